"""Runs that open only the files they need have the checks and questions of those that open all."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck.bench.bench import Patience
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import traits
from looptck.commands.pytest_run import run_pytest
from looptck.suite.plugin import check_of
from looptck.suite.selection import Selection
from looptck.suite.session import Options, Session
from looptck.suite.trait_plugin import question_of
from meta.kit.narrow import Run, may_hold, narrow

CELL = "openai-chat/plain/sync"
TRAITS = tuple(trait.id for trait in traits())


class _Collected:
    """A pytest plugin that notes the items, the files that were opened, and what each item is about."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.opened: set[str] = set()
        self.about: set[tuple[Path, str]] = set()

    @pytest.hookimpl
    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        if isinstance(collector, pytest.Module):
            self.opened.add(collector.path.name)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self.items.append(item.nodeid)
            if (check := check_of(item)) is not None:
                self.about.add((item.path, check.requirement.id))
            if (question := question_of(item)) is not None:
                self.about.add((item.path, question.trait.id))


def collected(selection: Selection, run: Run = run_pytest) -> _Collected:
    """What a run with this selection collects."""
    found = _Collected()
    session = Session.begin(Options(selection=selection, patience=Patience(20.0, 1.0)))
    run(session, ["--collect-only"], [found])
    session.end()
    return found


@pytest.mark.parametrize("profile", sorted(catalogue().profiles))
def test_no_file_of_a_requirement_or_a_trait_is_left_out(profile: str) -> None:
    """Whatever the whole suite plays is in a file that a selection of it alone would open."""
    about = collected(Selection((profile,))).about

    assert about
    assert [] == sorted(f"{path.name}: {name}" for path, name in about if not may_hold(path, name))


@pytest.mark.parametrize(
    "selection",
    [
        Selection(requirements=("call-runs-its-tool-once", "runs-do-not-leak"), cells=(CELL,)),
        Selection(requirements=("missing-sequence-is-tolerated",), cells=("openai-responses/stream/sync",)),
        Selection(traits=TRAITS, cells=(CELL,)),
    ],
    ids=["requirements", "recordings", "traits"],
)
def test_nothing_that_is_selected_is_left_out(selection: Selection) -> None:
    """The items are the same in the same order, and files of other requirements are not opened."""
    whole, narrowed = collected(selection), collected(selection, narrow(run_pytest))

    assert whole.items
    assert whole.items == narrowed.items
    assert len(narrowed.opened) < len(whole.opened) / 2


def test_without_names_everything_is_opened() -> None:
    """A selection by cell or case needs every file."""
    selection = Selection(("core",), cells=(CELL,), cases=("one-call",))

    assert collected(selection).opened == collected(selection, narrow(run_pytest)).opened
