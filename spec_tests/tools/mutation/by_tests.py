"""What the tests of the kit say of a mutant."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from looptck.suite.options import CouldNotRun
from tools.mutation.covering import Covered, Watch
from tools.mutation.trials import Kill

ROOT = Path(__file__).resolve().parents[3]
PROFILE = "mutation"


@dataclass(frozen=True, slots=True)
class Tests:
    """Tests of the kit, by the ids that pytest gives them, to be run on what is imported then."""

    __test__ = False

    nodes: Sequence[str]
    covered: Covered

    @classmethod
    def watched(cls, paths: Sequence[str], folder: Path) -> Tests:
        """Run all tests at these paths, in a process that has not imported the package in this folder yet.

        Raises:
            CouldNotRun: one of them fails.
        """
        watching = _Watching(Watch(folder))
        failed = _Failed()
        run(paths, [watching, failed])
        if failed.which or not watching.nodes:
            raise CouldNotRun(f"a test fails without a mutant: {failed.which or 'there is none'}")
        return cls(watching.nodes, watching.watch.end(len(watching.nodes)))

    def killed(self, numbers: Iterable[int]) -> Kill | None:
        """The first of these tests that fails on what is imported now; None: none of them does."""
        quickest = sorted(numbers, key=lambda number: self.covered.seconds[number])
        order = {self.nodes[number]: place for place, number in enumerate(quickest)}
        return killed_by(sorted({node.partition("::")[0] for node in order}), order)


def killed_by(paths: Sequence[str], order: Mapping[str, int] | None = None) -> Kill | None:
    """The first test at these paths that fails; of them only these, in this order, where it is given."""
    if not paths:
        return None
    failed = _Failed()
    status = run(["-x", *paths], [failed, *([_Chosen(order)] if order is not None else [])])
    if failed.which:
        return Kill("tests", failed.which, "fail")
    if status != pytest.ExitCode.OK:
        raise CouldNotRun(f"pytest ended with status {status}: {failed.told[-500:]}")
    return None


def run(arguments: Sequence[str], plugins: Sequence[object]) -> int:
    """Run pytest in silence, on the same examples of each property every time; returns its exit status."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(PROFILE, database=None, deadline=None, derandomize=True, phases=phases)
    fixed = [
        "-c",
        str(ROOT / "pyproject.toml"),
        f"--rootdir={ROOT}",
        f"--basetemp={Path(tempfile.gettempdir(), f'pytest-{os.getpid()}')}",
        f"--hypothesis-profile={PROFILE}",
        "--tb=no",
        "-Wignore::pytest.PytestAssertRewriteWarning",
        "-Wignore::hypothesis.errors.HypothesisSideeffectWarning",
        "-pno:xdist",
    ]
    silence = io.StringIO()
    os.chdir(ROOT)
    with redirect_stdout(silence), redirect_stderr(silence):
        try:
            status = int(pytest.main([*fixed, *arguments], plugins=list(plugins)))
        except BaseExceptionGroup as errors:  # what a mutant leaves behind, and nobody can raise where it belongs
            status = int(pytest.ExitCode.INTERNAL_ERROR)
            silence.write(repr(errors))
    for plugin in plugins:
        if isinstance(plugin, _Failed):
            plugin.told = silence.getvalue()
    return status


@dataclass(eq=False)
class _Failed:
    """Notes the first test, or file of tests, that failed."""

    which: str = ""
    told: str = ""

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.which:
            self.which = report.nodeid

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.which:
            self.which = report.nodeid


@dataclass(eq=False)
class _Chosen:
    """Takes some of the tests, in an order of its own."""

    order: Mapping[str, int]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        taken = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(taken, key=lambda item: self.order[item.nodeid])


@dataclass(eq=False)
class _Watching:
    """Notes which test executes what."""

    watch: Watch
    nodes: list[str] = field(default_factory=list)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.watch.switch(len(self.nodes))
        self.nodes.append(item.nodeid)
        result = yield
        self.watch.switch(-1)
        return result
