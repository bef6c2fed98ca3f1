"""The pytest plugin: turns the tests of ``looptck.spec`` into checks of one implementation, and outcomes into verdicts.

pytest outcomes follow from the verdicts: ``fail`` and ``not-reached`` fail, ``not-applicable`` skips with its reason,
``error`` is an error, and a known failure is a strict xfail.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from looptck.bench.checks import Check, Implementation
    from looptck.suite.options import Options
    from looptck.suite.session import Session
    from looptck.suite.worker import Worker

pytest_plugins = ["looptck.suite.trait_plugin"]

SPEC = "looptck.spec"
ITEM = "implementation"
"""The fixture that makes a test part of the suite, with one item per check. `looptck.spec.conftest` defines it.

A fixture of this plugin would exist in every project in whose environment looptck is installed.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The pytest options of looptck, for a suite that is run by pytest and not by ``looptck run``."""
    group = parser.getgroup("looptck", "looptck: conformance of LLM agent loops")
    group.addoption("--looptck-driver", metavar="DRIVER", help="python:MODULE:NAME, python:FILE.py:NAME or cmd:COMMAND")
    for name in ("profile", "requirement", "cell", "case", "trait"):
        group.addoption(
            f"--looptck-{name}", action="append", default=[], metavar=name.upper(), help=f"only this {name}"
        )
    group.addoption("--looptck-level", default="MAY", metavar="LEVEL", help="only requirements of this level or above")
    group.addoption("--looptck-known-failures", metavar="FILE", help="YAML file of known failures")
    group.addoption("--looptck-cassettes", metavar="DIR", help="play these cassettes instead of those shipped")
    group.addoption("--looptck-trace", metavar="DIR", help="write the traffic of failed runs to files below DIR")
    group.addoption("--looptck-json", metavar="FILE", help="write the results to this file as JSON")
    group.addoption(
        "--looptck-timeout",
        type=float,
        default=20.0,
        metavar="S",
        help="seconds without an event after which a run has hung",
    )
    group.addoption(
        "--looptck-patience", type=float, default=5.0, metavar="S", help="seconds that a gate waits before it gives up"
    )
    group.addoption("--looptck-examples", type=int, metavar="N", help="generated examples per property")
    group.addoption("--looptck-dialect", help="speak as this compatible server does, such as openrouter or vllm")
    group.addoption("--looptck-thorough", action="store_true", help="play everything, and each property on 25 examples")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    config.addinivalue_line("markers", "looptck_requirement(*ids): the requirements that a test checks")
    config.addinivalue_line("markers", "looptck_cassettes(takes): which cassettes a test plays")
    config.addinivalue_line(
        "markers", "looptck_refusable(why): the service may refuse a request of a correct loop in this test"
    )
    config.addinivalue_line("markers", "looptck_lengthy: takes seconds, and is skipped for most mutants")
    config.addinivalue_line("markers", "looptck_dress: one of several dresses of the same, of which one may do")
    config.addinivalue_line("markers", "looptck_cells(*patterns): the cells in which a test or value is played")


SESSION: pytest.StashKey[Session] = pytest.StashKey()
WORKER: pytest.StashKey[Worker] = pytest.StashKey()
IMPLEMENTATION: pytest.StashKey[Implementation] = pytest.StashKey()
JUDGING = pytest.StashKey[bool]()
"""Whether the test in progress belongs to the suite and not to another project in the same pytest run."""


def session_of(config: pytest.Config) -> Session:
    """The session of the suite; it begins here unless ``looptck run`` has begun it."""
    if SESSION not in config.stash:
        from looptck.guard.folder import COULD_NOT_RUN
        from looptck.suite.options import CouldNotRun
        from looptck.suite.worker import Worker, options_of, send_why

        told = options_of(config)
        try:
            session = config.stash[SESSION] = _begin(told or _options(config), preflight=told is None)
        except CouldNotRun as error:
            if told is not None:
                send_why(config, str(error))
            pytest.exit(f"looptck could not run: {error}", returncode=COULD_NOT_RUN)
        if told is not None:
            config.option.tbstyle = "line"
            config.stash[WORKER] = Worker(session)
            config.pluginmanager.register(config.stash[WORKER])
    return config.stash[SESSION]


def _begin(options: Options, *, preflight: bool) -> Session:
    """A session that has begun. Raises CouldNotRun."""
    from looptck.suite.options import CouldNotRun
    from looptck.suite.session import Session

    session = Session.begin(options)
    if preflight and (why := session.unreached()) is not None:
        session.end()
        raise CouldNotRun(why)
    return session


def _options(config: pytest.Config) -> Options:
    from looptck.bench.bench import Patience
    from looptck.suite.options import Options
    from looptck.suite.selection import Selection

    option = config.getoption
    known = option("looptck_known_failures")
    folder = option("looptck_cassettes")
    trace = option("looptck_trace")
    return Options(
        driver=option("looptck_driver"),
        selection=Selection(
            profiles=tuple(option("looptck_profile")),
            requirements=tuple(option("looptck_requirement")),
            cells=tuple(option("looptck_cell")),
            cases=tuple(option("looptck_case")),
            level=option("looptck_level").upper(),
            traits=tuple(option("looptck_trait")),
        ),
        known_failures=Path(known) if known else None,
        patience=Patience(option("looptck_timeout"), option("looptck_patience")),
        examples=option("looptck_examples"),
        cassettes=Path(folder) if folder else None,
        trace=Path(trace) if trace else None,
        thorough=option("looptck_thorough"),
        dialect=option("looptck_dialect"),
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Begin the session before the suite is collected, when the run can still end with a readable message."""
    if any(SPEC in argument.replace("/", ".") for argument in session.config.args):
        from looptck.guard.folder import COULD_NOT_RUN
        from looptck.suite.worker import options_of

        is_workers = hasattr(session.config, "workerinput") and options_of(session.config) is None
        if is_workers or session.config.getoption("numprocesses", 0):
            why = f"{SPEC} cannot run in parallel under pytest; leave out -n, or use looptck run -j"
            pytest.exit(f"looptck could not run: {why}", returncode=COULD_NOT_RUN)
        if not session.config.pluginmanager.hasplugin("dsession"):  # the process that deals plays nothing
            session_of(session.config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of the suite without a test for what is selected; no other is imported."""
    if SESSION not in config.stash:
        return None
    from looptck.suite.files import is_needed

    return None if is_needed(collection_path, config.stash[SESSION]) else True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each selected requirement, cell and case."""
    if not metafunc.module.__name__.startswith(SPEC) or ITEM not in metafunc.fixturenames:
        return
    session = session_of(metafunc.config)
    declared = metafunc.definition.get_closest_marker("looptck_requirement")
    plays = metafunc.definition.get_closest_marker("looptck_cassettes")
    if declared is not None and plays is not None:
        checks = session.choice.recorded_checks(declared.args, plays.kwargs["takes"])
    elif declared is not None:
        name = metafunc.function.__name__.removeprefix("test_").replace("_", "-")
        checks = session.choice.checks(declared.args, name)
    else:
        checks = session.choice.declared_checks()
    metafunc.parametrize(ITEM, checks, ids=[check.id for check in checks], indirect=True)


def check_of(item: pytest.Item) -> Check | None:
    """The check of an item; None if it is not part of the suite. A parametrized test has a case for each value."""
    callspec: Any = getattr(item, "callspec", None)
    check: Check | None = callspec.params.get(ITEM) if callspec else None
    if check is None or not hasattr(check, "requirement"):
        return None
    variant: str = callspec.id.replace(check.id, "").strip("-")
    return replace(check, case=f"{check.case}[{variant}]") if variant else check


def _is_played(item: pytest.Item, check: Check) -> bool:
    in_cell = all(check.cell.matches(marker.args) for marker in item.iter_markers("looptck_cells"))
    return in_cell and check.requirement.plays(check.case)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> Generator[None, list[Any], list[Any]]:
    """Describe a failed comparison of the suite in plain words.

    Pytest before 9.2 describes it too, and raises if there is no terminal, as in a run of the suite.
    """
    if not config.stash.get(JUDGING, False):
        return (yield)
    with suppress(AssertionError):
        yield
    from looptck.suite.verdict_of import words

    return [words(op, left, right)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Turn the result of a test into a verdict, and the verdict into pytest's outcome."""
    report = yield
    check = check_of(item) if SESSION in item.config.stash else None
    if check is not None:
        from looptck.suite.verdict_of import judge_report

        item.config.stash[SESSION].record.spent.timed(check.id, report.duration)
        judge_report(item.config.stash[SESSION], item, check, call, report, item.stash.get(IMPLEMENTATION, None))
        if call.when == "teardown":
            item.config.stash[SESSION].shared.over(check)
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the selected cases and record the checks that will run: an empty selection is not a success."""
    if SESSION not in config.stash:
        return
    from looptck.suite.sizes import spare

    bench = config.stash[SESSION]
    checks = {item: check_of(item) for item in items}
    taken = {
        item
        for item, check in checks.items()
        if check is not None and bench.selection.names(check.case) and _is_played(item, check)
    }
    whole = bench.record.thorough or bench.selection.is_narrow or bench.bench.started.is_program
    played = {item: check for item, check in checks.items() if check is not None and item in taken}
    spared = set() if whole else spare(played, bench.is_judged)
    taken -= spared
    items[:] = [item for item in items if item in taken or ITEM not in getattr(item, "fixturenames", ())]
    chosen = [check for item, check in checks.items() if check is not None and item in taken]
    offered = [check for check in checks.values() if check is not None]
    bench.collected(chosen, offered, [check for item, check in checks.items() if check is not None and item in spared])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep only what belongs to the part of the run that is played here."""
    bench = session.config.stash.get(SESSION, None)
    if bench is None or bench.record.shard is None:
        return
    from looptck.suite.questions import question_of

    places = bench.record.shard.places([item.nodeid for item in session.items])
    session.items = [item for place, item in enumerate(session.items) if place in places]
    bench.choose(check for check in map(check_of, session.items) if check is not None)
    bench.record.questions = sum(question_of(item) is not None for item in session.items)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
    """Stop the driver, write the results, and fail the run on faults that came to light at the end."""
    if SESSION in session.config.stash:
        from looptck.suite.summary import troubles, write_json

        bench = session.config.stash[SESSION]
        bench.end()
        if WORKER in session.config.stash:
            session.config.stash[WORKER].end(session.config)
        path = session.config.getoption("looptck_json", None)
        if path:
            write_json(bench.record, Path(path))
        if troubles(bench.record) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Under plain pytest, print the counts of verdicts; ``looptck run`` has its own terminal output."""
    if SESSION in config.stash:
        from looptck.suite.summary import one_line, troubles

        record = config.stash[SESSION].record
        terminalreporter.section("looptck")
        terminalreporter.line(one_line(record))
        for trouble in troubles(record):
            terminalreporter.line(trouble, red=True)
