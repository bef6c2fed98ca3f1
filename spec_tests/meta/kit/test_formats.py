"""Message formats: how a value is held against a form, and what the reference really sends on each wire."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck.bench.benches import LoopBench, loop_bench
from looptck.bench.choosing import bench_for
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.wire_fragments import as_sent, unlike
from looptck.drivers import REFERENCE
from looptck.values.cell import Cell
from looptck.values.turns import Call, Hosted, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

FORM = {"role": "tool", "content": ..., "name?": lambda value: isinstance(value, str), "parts?": [{"n": 1}]}
TURNS = {
    "two-calls": calls(Call("weather", '{"b": 1, "a": "é"}'), Call("ping", ""), text="I look."),
    "everything": turn(Thinking("So."), Thinking("", redacted=True), Hosted(), "I look.", Call.of("ping"), "And."),
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"role": "tool", "content": [1]}, []),
        ({"role": "tool", "content": None, "name": "x", "parts": [{"n": 1}]}, []),
        ({"role": "user", "content": ""}, ["/role: 'user', not 'tool'"]),
        ({"role": "tool"}, ["/content: missing"]),
        ({"role": "tool", "content": "", "id": 1}, ["/id: the format has no such key"]),
        ({"role": "tool", "content": "", "name": 3}, ["/name: 3 is wrong"]),
        ({"role": "tool", "content": "", "parts": []}, ["/parts: 0 entries, not 1"]),
        ({"role": "tool", "content": "", "parts": [{"n": True}]}, ["/parts/0/n: true, not 1"]),
        ([], [": [] is not an object"]),
    ],
)
def test_a_value_is_held_against_a_form(value: Any, found: list[str]) -> None:
    """A form is a closed world: what is missing, what is wrong and what is too much are found, with their places."""
    assert found == unlike(FORM, value)


@pytest.fixture(name="bench", scope="module")
def _kit() -> Any:
    with loop_bench(bench_for(REFERENCE)) as bench:
        yield bench


def played(bench: LoopBench, wire: str, said: Turn, *, stream: bool) -> Run:
    """A run of this turn and an answer."""
    scenario = Scenario()
    scenario.plays(said, says("Done."))
    return bench.begin(scenario, Cell(wire, stream, "sync"), name="formats").result()


@pytest.mark.parametrize("said", TURNS)
@pytest.mark.parametrize("wire", WIRES)
def test_what_the_reference_sends(bench: LoopBench, wire: str, said: str, snapshot: SnapshotAssertion) -> None:
    """The assistant turn and the results as they stand in the request, the same whether streamed or not."""
    plain, streamed = (as_sent(played(bench, wire, TURNS[said], stream=stream), 1) for stream in (False, True))

    assert snapshot == plain
    assert plain == streamed


def test_a_request_that_never_came_has_no_format(bench: LoopBench) -> None:
    """An answer is followed by no request."""
    run = played(bench, "openai-chat", says("Done."), stream=False)

    with pytest.raises(NotReached):
        as_sent(run, 1)
