"""Units: what shares a run is together, and everything is somewhere once."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.bench.cases import cases
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.plugin import check_of
from looptck.suite.questions import question_of
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.suite.units import Shard, unit_of, units


class _Collected:
    """A pytest plugin that plays nothing and keeps what was collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = [*items]
        items.clear()


@pytest.fixture(scope="module")
def items() -> list[pytest.Item]:
    """All checks and questions of two cells."""
    session = Session.begin(Options(selection=Selection(cells=("openai-chat/*/sync",))))
    collected = _Collected()
    try:
        run_pytest(session, [], [collected])
    finally:
        session.end()
    return [one for one in collected.items if check_of(one) or question_of(one)]


def test_checks_of_a_case_are_together(items: list[pytest.Item]) -> None:
    """The requirements of a declared case or a recording in a cell are in one unit."""
    declared = {
        item.nodeid: (str(check.cell), check.case)
        for item in items
        if (check := check_of(item)) and item.path.name in {"test_declared.py", "test_cassettes.py"}
    }
    found = {nodeid: unit_of(nodeid) for nodeid in declared}

    assert len(declared) > 100
    for _, rest in groupby(sorted(declared, key=declared.__getitem__), key=declared.__getitem__):
        assert 1 == len({found[nodeid] for nodeid in rest})
    assert len(set(found.values())) > len(set(declared.values())) / 2


def test_a_case_is_with_its_control() -> None:
    """A case shares the run of its control, so both are in one unit, and no case has two controls."""
    controlled = {
        case.name: {one["control"] for one in case.checks.values() if "control" in one} for case in cases().values()
    }

    assert any(controlled.values())
    for name, controls in controlled.items():
        units_of = {
            unit_of(f"test_declared.py::test_declared_case[row/openai-chat/plain/sync/{one}]")
            for one in (name, *controls)
        }
        assert len(controls) <= 1
        assert 1 == len(units_of)


def test_traits_of_a_file_are_together(items: list[pytest.Item]) -> None:
    """The traits of a file may share runs in a cell."""
    asked = [item for item in items if question_of(item)]

    assert {(item.nodeid.partition("::")[0], str(question_of(item).cell)) for item in asked} == {  # type: ignore[union-attr]
        unit_of(item.nodeid) for item in asked
    }


def test_no_other_unit_is_large(items: list[pytest.Item]) -> None:
    """All others are the parameters of one test in one cell, so that a run can be dealt evenly."""
    others = [item.nodeid for item in items if check_of(item) and item.path.name != "test_declared.py"]

    assert max(len(unit) for unit in units(others)) < len(others) / 20


NODEIDS = st.lists(
    st.builds(
        "{}::{}[{}/{}/{}]".format,
        st.sampled_from(["test_declared.py", "test_x.py"]),
        st.sampled_from(["test_a", "test_b"]),
        st.sampled_from(["row", "other-row"]),
        st.sampled_from(["openai-chat/plain/sync", "openai-chat/stream/async"]),
        st.sampled_from(["a", "a/b", "[x]", "a-b@c"]),
    ),
    unique=True,
)


@given(NODEIDS, st.integers(1, 5))
def test_everything_is_dealt_once(nodeids: list[str], of: int) -> None:
    """The shards of a run are disjoint, together they are all, and no unit is torn apart."""
    shards = [Shard(number, of).places(nodeids) for number in range(1, of + 1)]

    assert sorted(place for shard in shards for place in shard) == list(range(len(nodeids)))
    for unit in units(nodeids):
        assert 1 == sum(bool({*unit} & shard) for shard in shards)
