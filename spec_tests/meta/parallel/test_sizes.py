"""The two sizes of a run: the common one leaves out dresses, says so, and forgets no requirement in any cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from looptck.bench.cases import cases
from looptck.bench.checks import Check
from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import catalogue
from looptck.cli.group import main
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.suite.sizes import spare
from looptck.suite.summary import serializable, stale
from looptck.values.cell import Cell

CELLS = ("anthropic-messages/stream/sync", "openai-chat/stream/sync", "openai-chat/stream/async")


class _PlaysNothing:
    """A pytest plugin with which every check passes without being played."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self) -> bool:
        return True


def _session(*, thorough: bool) -> Session:
    session = Session.begin(Options(selection=Selection(cells=CELLS), thorough=thorough))
    try:
        run_pytest(session, [], [_PlaysNothing()])
    finally:
        session.end()
    return session


@pytest.fixture(scope="module")
def common() -> Session:
    """A common run."""
    return _session(thorough=False)


@pytest.fixture(scope="module")
def thorough() -> Session:
    """A thorough run."""
    return _session(thorough=True)


def test_every_requirement_is_played_in_every_cell(common: Session, thorough: Session) -> None:
    """The common run plays each requirement wherever the thorough one does."""
    pairs = [{(one.requirement.id, str(one.cell)) for one in session.chosen} for session in (common, thorough)]

    assert pairs[0] == pairs[1]


def test_what_is_left_out_is_counted(common: Session, thorough: Session) -> None:
    """What the common run plays and what it leaves out are together the thorough run."""
    left = common.record.left_out

    assert left
    assert {one.names for one in thorough.chosen} == {*left} | {one.names for one in common.chosen}
    assert len(left) == len(thorough.chosen) - len(common.chosen) == serializable(common.record)["left_out"]
    assert (0, []) == (serializable(thorough.record)["left_out"], thorough.record.left_out)


def test_cells_wear_different_dresses(common: Session) -> None:
    """The dresses that one cell leaves out are played in another."""
    played = {(check.requirement.id, check.case) for check in common.chosen}

    assert any((row, case) in played for row, _, case in common.record.left_out)


def test_each_case_is_played_on_each_wire(common: Session, thorough: Session) -> None:
    """Sync and async take turns: a case that one of them leaves out is played in the other."""
    halves = [
        {(one.requirement.id, one.case, one.cell.wire, one.cell.stream) for one in session.chosen if _is_declared(one)}
        for session in (common, thorough)
    ]
    played = [sum(one.cell.mode == mode for one in common.chosen) for mode in ("sync", "async")]

    assert halves[0] == halves[1]
    assert len(common.record.left_out) > len(thorough.chosen) / 5
    assert min(played) > len(common.chosen) / 5


def _is_declared(check: Check) -> bool:
    return check.case in cases()


class _Item:
    """A test as the choice of a size sees it."""

    def __init__(self, nodeid: str, mark: str = "") -> None:
        self.nodeid = nodeid
        self._mark = mark

    def get_closest_marker(self, name: str) -> bool:
        return name == self._mark


def _spared(*items: tuple[_Item, str, str], case: str = "case") -> set[str]:
    """The ids of the items that a common run leaves out; each item is of a requirement, in a cell."""
    checks: Any = {item: Check(catalogue()[row], Cell.parse(cell), case) for item, row, cell in items}
    return {item.nodeid for item in spare(checks, lambda check: check.case != "unjudged")}


def test_a_lengthy_check_is_left_out_where_another_checks_the_same() -> None:
    """The only check of a requirement in a cell is played, however long it takes."""
    lengthy, alone, other = _Item("a[1]", "looptck_lengthy"), _Item("a[2]", "looptck_lengthy"), _Item("b[1]")
    rows = [row.id for row in catalogue().profiles["core"].requirements[:2]]

    assert {"a[1]"} == _spared((lengthy, rows[0], CELLS[0]), (alone, rows[1], CELLS[0]), (other, rows[0], CELLS[0]))
    assert {"a[1]"} == _spared((lengthy, rows[0], CELLS[0]), (alone, rows[0], CELLS[1]), (other, rows[0], CELLS[0]))


def test_each_wire_wears_the_next_dress() -> None:
    """Of the dresses of a test one is played in each cell: the next one on the next wire, the same sync and async."""
    row = catalogue().profiles["core"].requirements[0].id
    cells = ("openai-chat/plain/sync", "openai-chat/plain/async", "openai-chat/stream/sync")
    items = [(_Item(f"a[{cell}-{dress}]", "looptck_dress"), row, cell) for cell in cells for dress in "xyz"]

    left = _spared(*items)

    kept = [item.nodeid for item, *_ in items if item.nodeid not in left]
    assert [f"a[{cell}-{dress}]" for cell, dress in zip(cells, "xxy", strict=True)] == kept


ROWS = [row.id for row in catalogue().profiles["core"].requirements[:2]]
MODES = ("openai-chat/plain/sync", "openai-chat/plain/async")


def _played(*tests: str, cells: tuple[str, ...] = MODES) -> list[tuple[_Item, str, str]]:
    """Tests of the first requirement, in each of the cells."""
    return [
        (_Item(f"spec/test_a.py::{test}[{ROWS[0]}/{cell}/{test}]"), ROWS[0], cell) for test in tests for cell in cells
    ]


def test_modes_take_turns() -> None:
    """The first case of a requirement is played in both modes; of the others each mode plays every second."""
    items = _played("first", "second", "third", "fourth")

    left = _spared(*items)

    assert [item.nodeid for item, *_ in (items[3], items[4], items[7])] == sorted(
        left, key=[*(one.nodeid for one, *_ in items)].index
    )


def test_a_mode_alone_plays_everything() -> None:
    """Nothing is left out of an implementation that runs only sync, plain or as a stream."""
    assert not _spared(*_played("first", "second", "third", cells=(MODES[0], "openai-chat/stream/sync")))


def test_checks_that_share_a_run_stay_together() -> None:
    """A case that is the first of one requirement is played in both modes for all its requirements."""
    items = [
        (_Item(f"spec/test_declared.py::test_declared[{row}/{cell}/{case}]"), row, cell)
        for case, rows in (("one", ROWS[:1]), ("two", ROWS))
        for row in rows
        for cell in MODES
    ]

    assert not _spared(*items)


def test_what_is_not_applicable_stands_for_nothing() -> None:
    """Checks that the implementation cannot be judged by are neither left out nor taken for the first of their kind."""
    assert not _spared(*_played("first", "second", "third"), case="unjudged")


def test_a_known_failure_that_was_left_out_is_not_stale(common: Session, thorough: Session) -> None:
    """What only the thorough run plays may still fail."""
    row = next(row for row, cell, _ in common.record.left_out if cell == CELLS[0])
    for session, expected in ((common, 0), (thorough, 1)):
        session.record.known = [Known(row, CELLS[0], "because")]
        try:
            assert expected == sum(row in entry for entry in stale(session.record)), session.record.thorough
        finally:
            session.record.known = []


def test_a_narrow_run_is_thorough() -> None:
    """A run that names a requirement leaves out nothing, and draws as many examples."""
    chosen = Selection(requirements=("framing-does-not-matter",), cells=CELLS)
    sizes = []
    for thorough in (True, False):
        session = Session.begin(Options(selection=chosen, thorough=thorough))
        run_pytest(session, [], [_PlaysNothing()])
        session.end()
        sizes.append((len(session.chosen), session.examples))

    assert sizes[0] == sizes[1]
    assert 25 == sizes[0][1]


def _run(file: Path, *words: str) -> Result:
    words = ("run", "-q", "-j", "1", "--cell", "openai-responses/plain/sync", "--level", "MUST", *words)
    return CliRunner().invoke(main, [*words, "--json", str(file)])


def test_the_common_run_says_so(tmp_path: Path) -> None:
    """The report of a common run names what it leaves out and the option that plays it."""
    ran = _run(tmp_path / "common.json", "--profile", "core")

    assert "on few examples; --thorough plays everything" in ran.output
    assert [] == json.loads((tmp_path / "common.json").read_text("utf-8"))["selection"]["options"]
