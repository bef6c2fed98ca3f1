"""A narrow run imports and reads only what it may play, and leaves out nothing of it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import yaml

from looptck import spec
from looptck.bench.cases import cases
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import traits
from looptck.catalogue.yaml_text import _UniqueKeys
from looptck.commands.pytest_run import run_pytest
from looptck.suite import files
from looptck.suite.choosing import PLAYING_ALL
from looptck.suite.options import Options
from looptck.suite.plugin import check_of
from looptck.suite.questions import question_of
from looptck.suite.selection import Selection
from looptck.suite.session import Session

FOLDER = Path(next(iter(spec.__path__)))
FILES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("test_*.py"))


def _bound(module: str) -> set[str]:
    """What the tests of a module are bound to, as pytest sees it: requirements and traits."""
    found = set()
    for value in vars(importlib.import_module(f"{spec.__name__}.{module.replace('/', '.')}")).values():
        for mark in getattr(value, "pytestmark", ()):
            if mark.name in {"looptck_requirement", "looptck_trait"}:
                found.update(mark.args)
    return found


@pytest.mark.parametrize("module", FILES)
def test_the_text_of_a_file_names_all_that_its_tests_are_bound_to(module: str) -> None:
    """A test that takes its requirement from elsewhere than a literal would be left out of narrow runs."""
    assert _bound(module) <= files._named(FOLDER / f"{module}.py")


def test_tests_of_cassettes_are_known() -> None:
    """What is judged on cassettes of any scenario is what the tests of cassettes are bound to."""
    assert _bound("test_cassettes") == PLAYING_ALL


@pytest.mark.parametrize("row", ["call-runs-its-tool-once", "no-request-is-refused", "spec-tool-error-is-raised"])
def test_a_requirement_is_played_in_all_its_cases(row: str) -> None:
    """The cases that name a requirement are found without reading the others."""
    rows = catalogue().rows
    known = row if row in rows else next(id for id in rows if id.startswith("spec-"))

    found = {case.name for case in cases().checking({known})}

    assert {name for name, case in cases().items() if known in case.checks} == found


def test_a_narrow_run_imports_few_files() -> None:
    """A run of one requirement needs the file of its test, and no other that names requirements, in whatever folder."""
    session = Session.begin(Options(selection=Selection(requirements=("model-name-is-sent",))))
    session.end()

    needed = {module for module in FILES if files.is_needed(FOLDER / f"{module}.py", session)}

    assert {"core/test_requests", "test_declared"} == needed


def test_a_narrow_run_reads_few_cassettes() -> None:
    """A run of one case reads no recording of another."""
    narrow = Selection(requirements=("call-runs-its-tool-once",), cases=("one-call@llama.cpp",))
    session = Session.begin(Options(selection=narrow))
    session.end()

    assert {"one-call"} == {one.scenario for one in session.cassettes}


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: 1}\nc: *x\n",
        "base: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n",
        "- 2001-01-01\n- 1.5\n- ~\n- true\n- !!binary aGk=\n- !!set {a, b}\n",
    ],
)
def test_rare_yaml_is_read_as_before(text: str) -> None:
    """Aliases, merged mappings and rare types are read as PyYAML's safe loader reads them."""
    assert yaml.safe_load(text) == yaml.load(text, Loader=_UniqueKeys)  # noqa: S506  a safe loader


@pytest.mark.parametrize("text", ["&x [*x]\n", "&x {a: *x}\n"])
def test_a_value_that_contains_itself_is_refused(text: str) -> None:
    """Nothing that the project reads may be endless."""
    with pytest.raises(yaml.YAMLError, match="contains itself"):
        yaml.load(text, Loader=_UniqueKeys)  # noqa: S506  a safe loader


class _Collected:
    """A pytest plugin that notes what is collected, and from which files, and plays nothing."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.opened: set[str] = set()

    @pytest.hookimpl
    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        if isinstance(collector, pytest.Module):
            self.opened.add(collector.path.name)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = [item.nodeid for item in items if check_of(item) or question_of(item)]
        items.clear()


def _collected(selection: Selection) -> _Collected:
    found = _Collected()
    session = Session.begin(Options(selection=selection))
    run_pytest(session, [], [found])
    session.end()
    return found


CELL = "openai-chat/plain/sync"


@pytest.mark.parametrize(
    "selection",
    [
        Selection(requirements=("call-runs-its-tool-once", "runs-do-not-leak"), cells=(CELL,)),
        Selection(requirements=("missing-sequence-is-tolerated",), cells=("openai-responses/stream/sync",)),
        Selection(traits=tuple(trait.id for trait in traits()), cells=(CELL,)),
    ],
    ids=["requirements", "recordings", "traits"],
)
def test_nothing_that_is_selected_is_left_out(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The items are the same in the same order as when every file is opened, and most files are not."""
    narrow = _collected(selection)
    monkeypatch.setattr(files, "is_needed", lambda *_: True)
    whole = _collected(selection)

    assert whole.items
    assert whole.items == narrow.items
    assert len(narrow.opened) < len(whole.opened) / 2
