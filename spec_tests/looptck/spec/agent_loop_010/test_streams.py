"""Profile ``agent-loop-010``: calls that start while the Request streams, and the conditions for the end of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import behind, call, place, solution, within
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE, tool_began, tool_begins_too_early, tool_ended
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.framing import DEFAULT
from looptck.values.plain import plain
from looptck.values.transcript import Received, Replied, ToolEnded
from looptck.values.turns import Turn

LETTER_BY_LETTER = DEFAULT.but(fragment=1)
"""A framing in which the stream can be held at any letter of a Solution."""
ORDERS = pytest.mark.parametrize(
    "order", [("calls", "output"), ("output", "calls")], ids=["calls-first", "output-first"]
)


def _replied() -> Gate:
    """A gate that opens once all of the first reply has been sent."""
    return Gate("the first reply has been sent", lambda event: isinstance(event, Replied) and event.n == 1)


def _held(turn: Turn, *holds: Hold) -> Step:
    """A turn whose stream is held at these places; a plain reply cannot be held."""
    return Step(turn, LETTER_BY_LETTER, holds=holds)


def _began_in_the_stream(run: Run, tool: str) -> None:
    """Assert that a tool began before all of the first reply had been sent."""
    assert run.tool_began(tool) < run.replied(1).at, f"{tool} began only after the end of the Request"


# Calls start while the Request streams


@requirement("loop010-calls-start-while-streaming")
@ORDERS
def test_a_call_starts_before_the_next_one_is_whole(
    scenario: Scenario, implementation: Implementation, order: Sequence[str]
) -> None:
    """The stream is held in the second call until the first one has begun."""
    turn = solution(call("first", to="†state.x"), call("second", {"value": 1}, to="†state.y"), order=order)
    scenario.plays(_held(turn, Hold(tool_began("first"), within(turn, 2))), DONE)
    scenario.does("first", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("first", "second"))

    _began_in_the_stream(run, "first")


@requirement("loop010-calls-start-while-streaming")
@ORDERS
def test_the_last_call_starts_before_the_end(
    scenario: Scenario, implementation: Implementation, order: Sequence[str]
) -> None:
    """All of the Solution has come, and the stream is not closed until its call has begun."""
    turn = solution(call("first", to="†state.x"), order=order)
    scenario.plays(_held(turn, Hold(tool_began("first"), None)), DONE)

    run = implementation.run(tools=tools("first"))

    _began_in_the_stream(run, "first")


# Events after which blocked calls are checked again

FETCH = call("fetch", to="†state.x")
USE = call("use", {"value": "†state.x"}, to="†state.y")
USE_MORE = call("more", {"value": "†state.y"}, to="†state.z")
BRACES = {"open": "if (a) {", "closed": "} else b; }", "bracket": "a[0]] = [", "quote": 'say "}"', "backslash": "C:\\{"}
"""Texts that a reader of JSON which counts braces misreads."""


@requirement("loop010-both-triggers-rescan")
@pytest.mark.parametrize(
    "calls", [(USE, FETCH), (USE_MORE, USE, FETCH), (FETCH, USE_MORE, USE)], ids=["two", "backwards", "mixed"]
)
def test_a_call_that_completes(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]]
) -> None:
    """Calls written before their dependency begin once it completes; in a stream, before its end."""
    turn = solution(*calls)
    last = "more" if USE_MORE in calls else "use"
    scenario.plays(_held(turn, Hold(tool_began(last), None)), DONE)

    run = implementation.run(tools=tools("fetch", "use", "more"))

    run.delivered(1)
    assert ["fetch", "use", "more"][: len(calls)] == [tool for tool, _ in run.tools_ran]
    if run.cell.stream:
        _began_in_the_stream(run, last)


@requirement("loop010-both-triggers-rescan")
@on("*/stream/*")
@ORDERS
def test_a_call_that_comes(scenario: Scenario, implementation: Implementation, order: Sequence[str]) -> None:
    """A call arrives long after its dependency completed, and begins while the stream lasts and no call completes.

    Another call has begun with the same result, so the result was stored before the last call arrived.
    """
    turn = solution(FETCH, USE, call("late", {"value": "†state.x"}, to="†state.z"), order=order)
    scenario.plays(_held(turn, Hold(tool_began("use"), behind(turn, 2)), Hold(tool_began("late"), None)), DONE)
    scenario.does("use", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("fetch", "use", "late"))

    run.tool_began("use")
    _began_in_the_stream(run, "late")


@requirement("loop010-both-triggers-rescan")
@on("*/stream/*")
@pytest.mark.parametrize("text", BRACES.values(), ids=BRACES)
def test_a_call_with_braces_in_a_text(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """A call comes whose parameter has braces, brackets or quotes in its text: it begins while the stream lasts."""
    turn = solution(call("fetch", {"value": text}, to="†state.x"), call("use", {"value": "†state.x"}, to="†state.y"))
    scenario.plays(_held(turn, Hold(tool_began("use"), None)), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    run.request(2)
    ran, named = run.arguments_of("fetch"), f"a call with the text {plain(text)}"
    assert ran, f"{named} never ran; the loop {run.outcome}"
    assert [{"value": text}] == ran
    assert run.tool_began("fetch") < run.replied(1).at, f"{named} began only after the end of the Request"


# A partly received call

LONG = call("greet", {"value": "†state.x", "other": "Good day, Zoë."}, to="†state.greeting")
PLACES = {
    "in-a-parameter": '"other":"Good',
    "behind-a-parameter": '"†state.x"',
    "behind-the-last-parameter": '"Good day, Zoë."',
}
"""The places in that call at which its stream is held."""


@requirement("loop010-partial-calls-never-start")
@pytest.mark.parametrize("where", PLACES.values(), ids=PLACES)
def test_a_part_of_a_call(scenario: Scenario, implementation: Implementation, where: str) -> None:
    """The stream is held inside a call while earlier calls run; the call runs once, with all of its content."""
    chain = (FETCH, USE, USE_MORE)
    text = str(solution(*chain, LONG).text)
    until = text[: text.index(where, text.index('"greet"')) + len(where)]
    scenario.plays(_held(solution(*chain, LONG), Hold(tool_began("more"), until)), probe_turn("state.greeting"), DONE)
    scenario.does("more", Returns("a result", hold=_replied()))

    run = implementation.run(tools=tools("fetch", "use", "more", "greet"))

    written = probed_values(run, 2)
    run.tool_began("greet")
    assert [{"value": "result 1 of fetch", "other": "Good day, Zoë."}] == run.arguments_of("greet")
    assert {"state.greeting": "result 1 of greet"} == written


@requirement("loop010-partial-calls-never-start")
def test_a_call_without_its_brace(scenario: Scenario, implementation: Implementation) -> None:
    """Only the last brace of a call is missing for a while; until it arrives, the call does not begin."""
    early = tool_begins_too_early("greet")
    turn = solution(call("greet", {"value": 1}, to="†state.greeting"))
    scenario.plays(_held(turn, Hold(early, within(turn, 1))), DONE)

    run = implementation.run(tools=tools("greet"))

    run.tool_began("greet")
    assert [early.name] == run.gave_up, "it began before it was complete"


# The end of a turn

LINKS = [f"link{n}" for n in range(6)]
CHAIN = [
    call("link0", to="†state.link0"),
    *(call(name, {"value": f"†state.{before}"}, to=f"†state.{name}") for before, name in pairwise(LINKS)),
]


@requirement("loop010-turns-end-when-drained")
@pytest.mark.parametrize("backwards", [False, True], ids=["in-order", "backwards"])
def test_pending_calls(scenario: Scenario, implementation: Implementation, backwards: bool) -> None:
    """Six calls, of which only one can run at a time, have all ended when the next Request comes."""
    scenario.plays(solution(*(CHAIN[::-1] if backwards else CHAIN)), DONE)

    run = implementation.run(tools=tools(*LINKS))

    _all_ended_before(run, 2)


@requirement("loop010-turns-end-when-drained")
@on("*/stream/*")
def test_an_open_stream(scenario: Scenario, implementation: Implementation) -> None:
    """All calls so far have ended and the stream is held for a while: the turn ends only after the stream."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n == 2, ABSENCE)
    turn = solution(*CHAIN)
    scenario.plays(_held(turn, Hold(tool_began(LINKS[-2]), behind(turn, 5)), Hold(again, within(turn, 6))), DONE)

    run = implementation.run(tools=tools(*LINKS))

    run.tool_ended(LINKS[-2])
    assert again.name in run.gave_up, "the next Request came while the first was still streaming"
    _all_ended_before(run, 2)


def _all_ended_before(run: Run, n: int) -> None:
    """Assert that all calls of the chain had ended when request ``n`` came. Raises NotReached if it never came."""
    request = run.request(n)
    before = run.transcript.events[: run.transcript.events.index(request)]
    ended = {event.tool for event in before if isinstance(event, ToolEnded)}
    left = [
        f"{name} {'had not ended' if run.arguments_of(name) else 'never ran'}" for name in LINKS if name not in ended
    ]

    assert not left, f"request {n} came, and of the calls of the turn before {' and '.join(left)}"


SLOW = {f"slow{n}": f"result number {n}" for n in range(20)}
"""The results of tools, by name."""


@requirement("loop010-late-results-are-kept")
def test_results_behind_the_end(scenario: Scenario, implementation: Implementation) -> None:
    """Twenty calls end one after another after the stream was closed: the next Request contains all results."""
    released = _replied()
    for name, result in SLOW.items():
        scenario.does(name, Returns(result, hold=released))
        released = tool_ended(name)
    scenario.plays(
        solution(*(call(name, to=f"†state.{name}") for name in SLOW)),
        probe_turn(*(f"state.{name}" for name in SLOW)),
        DONE,
    )

    run = implementation.run(tools=tools(*SLOW))

    sent = run.request(2)
    lost = [result for result in SLOW.values() if place(sent, result) is None]
    assert [] == lost, f"request 2 lacks {len(lost)} of the {len(SLOW)} results of turn 1, first {lost[0]!r}"
    assert {f"state.{name}": result for name, result in SLOW.items()} == probed_values(run, 2)
