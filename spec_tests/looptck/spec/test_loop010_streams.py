"""Profile ``agent-loop-010``: calls that start while the Request streams, and what has to be over when a turn ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.framing import NATURAL
from looptck.kit import Scene
from looptck.provider.gates import ABSENCE, Gate, tool_began, tool_begins_too_early, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.solutions import behind, call, place, solution, within
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.transcript import Received, Replied, ToolEnded
from looptck.turns import Turn

LETTER_BY_LETTER = NATURAL.but(fragment=1)
"""So that a stream can be held at any letter of a Solution."""
ORDERS = pytest.mark.parametrize(
    "order", [("calls", "output"), ("output", "calls")], ids=["calls-first", "output-first"]
)


def _replied() -> Gate:
    """Opens when all of the first reply has left."""
    return Gate("the first reply has left", lambda event: isinstance(event, Replied) and event.n == 1)


def _held(turn: Turn, *holds: Hold) -> Step:
    """A turn whose stream is held at these places; a plain reply cannot be."""
    return Step(turn, LETTER_BY_LETTER, holds=holds)


def _began_in_the_stream(run: Run, tool: str) -> None:
    """A tool began before all of the first reply had left."""
    assert run.tool_began(tool) < run.replied(1).at, f"{tool} began only when the Request was at its end"


# Calls start while the Request streams


@requirement("loop010-calls-start-while-streaming")
@ORDERS
def test_a_call_starts_before_the_next_one_is_whole(
    provider: Scene, implementation: Implementation, order: Sequence[str]
) -> None:
    """The stream is held in the second call until the first one has begun."""
    turn = solution(call("first", to="†state.x"), call("second", {"value": 1}, to="†state.y"), order=order)
    provider.plays(_held(turn, Hold(tool_began("first"), within(turn, 2))), DONE)
    provider.does("first", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("first", "second"))

    _began_in_the_stream(run, "first")


@requirement("loop010-calls-start-while-streaming")
@ORDERS
def test_the_last_call_starts_before_the_end(
    provider: Scene, implementation: Implementation, order: Sequence[str]
) -> None:
    """All of the Solution has come, and the stream is not closed until its call has begun."""
    turn = solution(call("first", to="†state.x"), order=order)
    provider.plays(_held(turn, Hold(tool_began("first"), None)), DONE)

    run = implementation.run(tools=tools("first"))

    _began_in_the_stream(run, "first")


# What leads to a new look at what is blocked

FETCH = call("fetch", to="†state.x")
USE = call("use", {"value": "†state.x"}, to="†state.y")
USE_MORE = call("more", {"value": "†state.y"}, to="†state.z")


@requirement("loop010-both-triggers-rescan")
@pytest.mark.parametrize(
    "calls", [(USE, FETCH), (USE_MORE, USE, FETCH), (FETCH, USE_MORE, USE)], ids=["two", "backwards", "mixed"]
)
def test_a_call_that_completes(
    provider: Scene, implementation: Implementation, calls: Sequence[dict[str, Any]]
) -> None:
    """Calls that came before what they need begin when that completes; where it streams, before the stream's end."""
    turn = solution(*calls)
    last = "more" if USE_MORE in calls else "use"
    provider.plays(_held(turn, Hold(tool_began(last), None)), DONE)

    run = implementation.run(tools=tools("fetch", "use", "more"))

    run.delivered(1)
    assert ["fetch", "use", "more"][: len(calls)] == [tool for tool, _ in run.tools_ran]
    if run.cell.stream:
        _began_in_the_stream(run, last)


@requirement("loop010-both-triggers-rescan")
@on("*/stream/*")
@ORDERS
def test_a_call_that_comes(provider: Scene, implementation: Implementation, order: Sequence[str]) -> None:
    """A call comes when what it needs has long completed, and begins while nothing else completes and the stream lasts.

    That another call has begun with the same result shows that this had been taken in before the last call came.
    """
    turn = solution(FETCH, USE, call("late", {"value": "†state.x"}, to="†state.z"), order=order)
    provider.plays(_held(turn, Hold(tool_began("use"), behind(turn, 2)), Hold(tool_began("late"), None)), DONE)
    provider.does("use", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("fetch", "use", "late"))

    run.tool_began("use")
    _began_in_the_stream(run, "late")


# A call of which a part has come

LONG = call("greet", {"value": "†state.x", "other": "Good day, Zoë."}, to="†state.greeting")
PLACES = {
    "in-a-parameter": '"other":"Good',
    "behind-a-parameter": '"†state.x"',
    "behind-the-last-parameter": '"Good day, Zoë."',
}
"""Where in that call its stream is held."""


@requirement("loop010-partial-calls-never-start")
@pytest.mark.parametrize("where", PLACES.values(), ids=PLACES)
def test_a_part_of_a_call(provider: Scene, implementation: Implementation, where: str) -> None:
    """A call is held at a part of it while those before it run; it runs once, with all that was in it."""
    chain = (FETCH, USE, USE_MORE)
    text = str(solution(*chain, LONG).text)
    until = text[: text.index(where, text.index('"greet"')) + len(where)]
    provider.plays(_held(solution(*chain, LONG), Hold(tool_began("more"), until)), probing("state.greeting"), DONE)
    provider.does("more", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("fetch", "use", "more", "greet"))

    written = probed(run, 2)
    assert [{"value": "result 1 of fetch", "other": "Good day, Zoë."}] == run.arguments_of("greet")
    assert {"state.greeting": "result 1 of greet"} == written


@requirement("loop010-partial-calls-never-start")
def test_a_call_without_its_brace(provider: Scene, implementation: Implementation) -> None:
    """Nothing but the last brace of a call has not come for a while, and until then it does not begin."""
    early = tool_begins_too_early("greet")
    turn = solution(call("greet", {"value": 1}, to="†state.greeting"))
    provider.plays(_held(turn, Hold(early, within(turn, 1))), DONE)

    run = implementation.run(tools=tools("greet"))

    run.tool_began("greet")
    assert [early.name] == run.gave_up, "it began when it was not whole"


# The end of a turn

LINKS = [f"link{n}" for n in range(6)]
CHAIN = [
    call("link0", to="†state.link0"),
    *(call(name, {"value": f"†state.{before}"}, to=f"†state.{name}") for before, name in pairwise(LINKS)),
]


@requirement("loop010-turns-end-when-drained")
@pytest.mark.parametrize("backwards", [False, True], ids=["in-order", "backwards"])
def test_pending_calls(provider: Scene, implementation: Implementation, backwards: bool) -> None:
    """Six calls, of which only one can run at a time, have all ended when the next Request comes."""
    provider.plays(solution(*(CHAIN[::-1] if backwards else CHAIN)), DONE)

    run = implementation.run(tools=tools(*LINKS))

    assert LINKS == _ended_before(run, 2)


@requirement("loop010-turns-end-when-drained")
@on("*/stream/*")
def test_an_open_stream(provider: Scene, implementation: Implementation) -> None:
    """All calls so far have ended and the stream is held for a while: the turn goes on when it does."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n == 2, ABSENCE)
    turn = solution(*CHAIN)
    provider.plays(_held(turn, Hold(tool_began(LINKS[-2]), behind(turn, 5)), Hold(again, within(turn, 6))), DONE)

    run = implementation.run(tools=tools(*LINKS))

    run.tool_ended(LINKS[-2])
    assert again.name in run.gave_up, "the next Request came while the first still streamed"
    assert LINKS == _ended_before(run, 2)


def _ended_before(run: Run, n: int) -> list[str]:
    """The tools that had ended when request ``n`` came, in the order in which they did. NotReached if it did not."""
    request = run.request(n)
    before = run.transcript.events[: run.transcript.events.index(request)]
    return [event.tool for event in before if isinstance(event, ToolEnded)]


SLOW = {f"slow{n}": f"result number {n}" for n in range(20)}
"""What tools return, by name."""


@requirement("loop010-late-results-are-kept")
def test_results_behind_the_end(provider: Scene, implementation: Implementation) -> None:
    """Twenty calls end one after the other when the stream is closed: the next Request tells all their results."""
    released = _replied()
    for name, result in SLOW.items():
        provider.does(name, Returns(result, hold=released))
        released = tool_ended(name)
    provider.plays(
        solution(*(call(name, to=f"†state.{name}") for name in SLOW)),
        probing(*(f"state.{name}" for name in SLOW)),
        DONE,
    )

    run = implementation.run(tools=tools(*SLOW))

    told = run.request(2)
    assert [] == [result for result in SLOW.values() if place(told, result) is None]
    assert {f"state.{name}": result for name, result in SLOW.items()} == probed(run, 2)
