"""Runs that open only the files they need have the checks and questions of those that open all."""

from __future__ import annotations

import pytest

from looptck.bench.bench import Patience
from looptck.catalogue.traits import traits
from looptck.commands.pytest_run import run_pytest
from looptck.suite.selection import Selection
from looptck.suite.session import Options, Session
from meta.kit.narrow import Run, narrow

CELL = "openai-chat/plain/sync"
SELECTIONS = {
    "declared": Selection(requirements=("call-runs-its-tool-once",), cells=(CELL,)),
    "written": Selection(requirements=("runs-do-not-leak", "limit-is-a-ceiling"), cells=(CELL,)),
    "recorded": Selection(requirements=("recorded-traffic-is-read-right",), cells=(CELL,)),
    "traits": Selection(traits=tuple(trait.id for trait in traits()), cells=(CELL,)),
    "a trait and a requirement": Selection(
        requirements=("limit-is-a-ceiling",), traits=("tool-choice",), cells=("*/plain/sync",)
    ),
}


class _Files:
    """A pytest plugin that notes the files with a selected item."""

    def __init__(self) -> None:
        self.collected: list[str] = []
        self.opened: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = [item.nodeid for item in session.items]

    @pytest.hookimpl
    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        if isinstance(collector, pytest.Module):
            self.opened.add(collector.path.name)


def collected(selection: Selection, run: Run) -> _Files:
    """What a run with this selection collects."""
    files = _Files()
    session = Session.begin(Options(selection=selection, patience=Patience(20.0, 1.0)))
    run(session, ["--collect-only"], [files])
    session.end()
    return files


@pytest.mark.parametrize("name", SELECTIONS)
def test_nothing_that_is_selected_is_left_out(name: str) -> None:
    """The items are the same in the same order; files of other requirements are not opened."""
    whole = collected(SELECTIONS[name], run_pytest)
    narrowed = collected(SELECTIONS[name], narrow(run_pytest))

    assert whole.collected
    assert whole.collected == narrowed.collected
    assert len(narrowed.opened) < len(whole.opened) / 2


def test_without_names_everything_is_opened() -> None:
    """A selection by cell or case needs every file."""
    selection = Selection(("core",), cells=(CELL,), cases=("one-call",))

    assert collected(selection, run_pytest).opened == collected(selection, narrow(run_pytest)).opened
