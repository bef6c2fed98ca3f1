"""Runs the suite under pytest, with looptck's own terminal output and without the caller's pytest configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console

from looptck import spec
from looptck.catalogue.content import content
from looptck.catalogue.yaml_files import BadFile
from looptck.guard import playing
from looptck.guard.folder import COULD_NOT_RUN
from looptck.report.console import could_not_run, output_console
from looptck.report.files import unwritable, write_all
from looptck.report.terminal import Terminal
from looptck.suite import plugin
from looptck.suite.directly import Directly
from looptck.suite.options import CouldNotRun, Options, Prepared
from looptck.suite.processes import usual
from looptck.suite.record import Record
from looptck.suite.session import Session
from looptck.suite.summary import as_json, exit_status, head, kit_version, serializable

LEFT_OUT = (
    "terminal",
    "cacheprovider",
    "debugging",
    "doctest",
    "faulthandler",
    "legacypath",
    "logging",
    "pastebin",
    "recwarn",
    "setuponly",
    "setupplan",
    "skipping",
    "stepwise",
    "threadexception",
    "tmpdir",
    "unittest",
    "unraisableexception",
    "warnings",
)
"""pytest plugins that are disabled: the suite does not use them, and each costs time in every item."""
OF_CALLER = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
"""Variables of the environment by which pytest takes options and plugins for the caller's own tests."""
JUNIT = "--junit-xml"
INTERRUPTED = "it was interrupted before the first check"


def run_suite(
    options: Options,
    *,
    json_file: Path | None = None,
    junit: Path | None = None,
    html: Path | None = None,
    quiet: bool = False,
    preflight: bool = True,
    workers: int | None = None,
    hosts: Sequence[str] = (),
    durations: int | None = None,
) -> int:
    """Run the suite and print the report; returns the exit status: 0, 1 or 2.

    Args:
        options: the options of the run.
        json_file: the file for the results as JSON.
        junit: the file for the results as JUnit XML.
        html: the folder for the results as pages.
        quiet: print only failures and counts.
        preflight: first make sure that some run of the implementation reaches the provider, else skip the suite.
        workers: how many processes play at a time; None: two for each core, or one if little is selected.
        durations: print where the time went, and this many of the slowest checks; None: print nothing of it.
        hosts: in their place, where the processes are, as pytest-xdist's ``--tx`` takes it.
    """
    console = output_console()
    json_file, junit = (path.absolute() if path else None for path in (json_file, junit))
    html = html.absolute() if html else None
    if (wrong := unwritable([json_file, junit]) or _unbuildable(html)) is not None:
        return could_not_run(console, wrong)
    playing.note(
        "began",
        looptck=kit_version(),
        driver=options.driver,
        json_file=str(json_file) if json_file else None,
        junit=str(junit) if junit else None,
    )

    def noted(session: Session) -> None:
        if json_file is not None:
            playing.note("head", content=content(), **head(session.record))

    try:
        session, processes, why = _begun(options, workers, hosts, noted, preflight=preflight)
    except CouldNotRun as error:
        return could_not_run(console, str(error))
    except KeyboardInterrupt:
        return could_not_run(console, INTERRUPTED)
    record = session.record
    record.listeners.append(lambda result: playing.note("result", judged=record.judged, **result.serializable()))
    if why is not None:
        session.end()
        return could_not_run(console, why)
    terminal = Terminal(console, record, quiet=quiet, durations=durations)
    with TemporaryDirectory(prefix="looptck-") as folder:
        kept = Path(folder) / "junit.xml"
        arguments = [f"{JUNIT}={kept}", "-o", "junit_family=xunit1"] if junit else []
        try:
            status, in_order = _play(session, options, processes, hosts, arguments, terminal)
        except CouldNotRun as error:
            terminal.stop()
            return could_not_run(console, str(error))
        finally:
            session.end()
        record.put_in_order()
        texts = {json_file: as_json(record)} if json_file else {}
        if junit and kept.exists():
            texts[junit] = in_order(kept.read_text(encoding="utf-8"))
    if status == pytest.ExitCode.INTERRUPTED and not (record.checks or record.questions):
        terminal.stop()
        return could_not_run(console, INTERRUPTED)
    terminal.finish()
    lost = [*write_all(texts, console), *(_pages(record, html, console) if html else [])]
    if lost or terminal.broken or status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        return COULD_NOT_RUN
    return exit_status(record)


def _unbuildable(folder: Path | None) -> str | None:
    """Why pages cannot be written to a folder, as a line; None where they can."""
    if folder is None:
        return None
    from looptck.report.site.building import try_out

    try:
        try_out(folder)
    except BadFile as error:
        return str(error)
    return None


def _pages(record: Record, folder: Path, console: Console) -> list[Path]:
    """Write the pages of the results; the folder if it cannot be written."""
    from looptck.report.site.building import Site, build
    from looptck.report.site.entries import Entry

    data = serializable(record)
    try:
        build(Site([Entry(str(data["implementation"]["name"]), data)], kit_version(), {}), folder)
    except BadFile as error:
        console.print(str(error), style="bold red", markup=False, soft_wrap=True)
        return [folder]
    console.print(f"pages: {folder / 'index.html'}", markup=False, soft_wrap=True)
    return []


def _begun(
    options: Options,
    workers: int | None,
    hosts: Sequence[str],
    noted: Callable[[Session], None],
    *,
    preflight: bool,
) -> tuple[Session, int, str | None]:
    """A session, how many processes play it, and why the suite would be pointless.

    Raises:
        CouldNotRun: the implementation cannot be started.
    """
    prepared = Prepared.of(options)
    processes = _processes(workers, prepared)
    if _are_forks(processes, hosts):
        from looptck.commands.trying import tried

        prepared.bench.started, why = tried(prepared, noted, preflight=preflight)
        return Session.of(prepared), processes, why
    session = Session.opened(prepared)
    noted(session)
    try:
        return session, processes, session.unreached() if preflight else None
    except KeyboardInterrupt:
        return session, processes, INTERRUPTED


def _processes(wanted: int | None, prepared: Prepared) -> int:
    """How many processes play: as many as wanted, but one if the implementation cannot be started twice."""
    if not prepared.bench.can_be_started_twice:
        return 1
    if wanted is not None or prepared.options.selection.is_narrow:
        return wanted or 1
    return usual()


def _are_forks(processes: int, hosts: Sequence[str]) -> bool:
    """Whether the processes are forks of this one, which then starts no driver; not all systems' libraries bear it."""
    return processes > 1 and not hosts and sys.platform == "linux"


def _play(
    session: Session,
    options: Options,
    processes: int,
    hosts: Sequence[str],
    arguments: Sequence[str],
    terminal: Terminal,
) -> tuple[int, Callable[[str], str]]:
    """Play the run: pytest's exit status, and what puts its JUnit XML in order.

    Raises:
        CouldNotRun: one of several processes cannot play.
    """
    if hosts and not session.bench.can_be_started_twice:
        raise CouldNotRun("--tx: the implementation is running already, or looks for its model on one port, here")
    if processes == 1 and not hosts:
        return run_pytest(session, arguments, [terminal]), lambda junit: junit
    from looptck.commands.gathering import Gathering

    gathering = Gathering(session.record)
    try:
        if _are_forks(processes, hosts):
            from looptck.commands.forks import Forks

            forks = Forks(session, gathering, processes, terminal, junit=bool(arguments))
            status = run_pytest(session, arguments, [forks, terminal])
        else:
            from looptck.commands.hosts import Hosts, run_words

            session.end()
            session.record.faults = []
            playing_there = Hosts(gathering, options)
            status = _pytest([*run_words(processes, hosts), *arguments], [playing_there, terminal])
            if playing_there.unreached is not None:
                raise CouldNotRun(f"a process of the run cannot be started: {playing_there.unreached}")
    finally:
        gathering.finish()
    if gathering.why is not None:
        raise CouldNotRun(
            f"{gathering.why}\nIt had started once before; what can be started only once is played with -j 1."
        )
    return status, gathering.in_order


def run_pytest(session: Session, arguments: Sequence[str] = (), plugins: Sequence[object] = ()) -> int:
    """Run ``looptck.spec`` under pytest with looptck's plugin and no other; returns pytest's exit status."""
    reports_phases = any(word.startswith(JUNIT) for word in arguments)
    return _pytest(arguments, [_SessionPlugin(session), *([] if reports_phases else [Directly()]), *plugins])


def _pytest(arguments: Sequence[str], plugins: Sequence[object]) -> int:
    folder = Path(next(iter(spec.__path__)))
    fixed = [
        "--pyargs",
        spec.__name__,
        f"--config-file={folder / 'pytest.ini'}",
        f"--rootdir={folder}",
        "--disable-plugin-autoload",
        "-p",
        plugin.__name__,
        "--capture=sys",
    ]
    fixed += [word for name in LEFT_OUT for word in ("-p", f"no:{name}")]
    with _without(OF_CALLER):
        return int(pytest.main([*fixed, *arguments], plugins=plugins))


@contextmanager
def _without(names: Collection[str]) -> Iterator[None]:
    """These variables of the environment are not there."""
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ |= before


class _SessionPlugin:
    """A pytest plugin that passes the session on and turns off pytest's long failure reports, which looptck replaces.

    For its long reports pytest parses the file of each failed check, and CPython 3.11 cannot parse while another thread
    writes the traceback of a driver fault ("AST constructor recursion depth mismatch").
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.SESSION] = self._session
        config.option.tbstyle = "line"
