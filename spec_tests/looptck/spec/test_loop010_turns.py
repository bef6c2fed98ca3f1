"""Profile ``agent-loop-010``: one Request for each turn, until a Solution has an output that is not null."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.checks import Implementation, requirement
from looptck.history import same_value
from looptck.kit import Scene
from looptck.provider.gates import ABSENCE, Gate
from looptck.provider.toolbox import Returns
from looptck.solutions import call, embedded, place, solution, texts
from looptck.spec.leeway import led_to
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.transcript import Received
from looptck.turns import Turn, says
from looptck.verdicts import NotReached

CHAIN = (
    call("first", {"value": 1}, to="†state.first"),
    call("second", {"value": "†state.first"}, to="†state.second"),
    call("third", {"value": "†state.second"}, to="†state.third"),
)
"""Each needs what the one before it gives."""
CALL = CHAIN[0]
STEPS = tools("first", "second", "third")


# One Request for each turn


@requirement("loop010-one-request-per-turn")
def test_seven_turns(provider: Scene, implementation: Implementation) -> None:
    """Seven Solutions take seven Requests, and the calls of each run before the next one is asked for."""
    provider.plays(*(solution(call("first", {"value": n}, to=f"†state.x{n}")) for n in range(6)), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(7)
    assert 7 == len(run.requests)
    assert [[("first", {"value": n})] for n in range(6)] == run.rounds


@requirement("loop010-one-request-per-turn")
def test_a_call_that_still_runs(provider: Scene, implementation: Implementation) -> None:
    """A call has not ended for a while; the next Request comes only when it has."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n == 4, ABSENCE)
    provider.does("third", Returns("at last", hold=again))
    provider.plays(*(solution(one) for one in CHAIN), DONE)

    run = implementation.run(tools=STEPS)

    run.tool_began("third")
    assert [again.name] == run.gave_up, "the next Request came while a call ran"


# The first Request

CONTEXT: dict[str, dict[str, Any]] = {
    "aardvark": {"type": "text", "text": "Greet aardvark and\nnobody else."},
    "bandicoot": {"type": "data", "kind": "user", "data": {"names": ["bandicoot"], "age": 7}},
    "capybara": {"type": "input", "input": {"city": "capybara"}},
    "dromedary": {"type": "text", "text": "That was dromedary."},
    "echidna": {"type": "data", "data": {"deep": {"deeper": ["echidna", None]}}},
    "fossa": {"type": "state", "town": {"name": "fossa"}},
    "gharial": {"type": "text", "text": "gharial"},
}
"""A message of each type that the caller writes, most of them between texts, by a word that no other one has."""


@requirement("loop010-first-request-is-the-initial-context")
@pytest.mark.parametrize("order", [list(CONTEXT), list(reversed(CONTEXT))], ids=["forth", "back"])
def test_the_context_is_told(provider: Scene, implementation: Implementation, order: list[str]) -> None:
    """Every message stands in the first Request, in the order of the context."""
    provider.plays(DONE)

    run = implementation.run(context=[CONTEXT[word] for word in order], tools=STEPS)

    places = {word: place(run.request(1), word) for word in order}
    assert [] == [word for word, at in places.items() if at is None], "messages are missing"
    assert order == sorted(order, key=lambda word: places[word] or 0)


@requirement("loop010-first-request-is-the-initial-context")
def test_a_run_knows_nothing_of_the_one_before(provider: Scene, implementation: Implementation) -> None:
    """Neither results nor errors of an earlier run are in the first Request of the next."""
    provider.returns("first", "hoatzin")
    provider.raises("second", "ibex")
    provider.plays(solution(CALL, call("second", to="†state.second")), DONE)
    before = implementation.run(tools=STEPS).request(2)
    missing = [word for word in ("hoatzin", "ibex") if place(before, word) is None]
    if missing:
        raise NotReached(f"control: request 2 of the run before tells nothing of {missing}")
    provider.plays(DONE)

    run = implementation.run(tools=STEPS)

    assert [] == [word for word in ("hoatzin", "ibex") if place(run.request(1), word) is not None]


# A null output

RESULTS: dict[str, Any] = {
    "text": "8400312577",
    "words": 'Zürich: "fine",\n8400312577 😀',
    "integer": 8400312577,
    "object": {"name": "8400312577", "tags": ["a", {"b": None}], "on": False},
    "array": [["8400312577"], 0, ""],
}
"""Results of most types, each with a number in it that can be found."""


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_results_are_told(provider: Scene, implementation: Implementation, value: Any) -> None:
    """The next Request tells what the calls of the turn have returned."""
    provider.returns("first", value)
    provider.returns("second", "jacana")
    provider.plays(solution(CALL, call("second", to="†state.other")), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    assert 2 == len(run.requests), f"the loop {run.outcome}"
    told = run.request(2)
    assert [] == [word for word in ("8400312577", "jacana") if place(told, word) is None]


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_results_are_there_in_the_next_turn(provider: Scene, implementation: Implementation, value: Any) -> None:
    """Calls of the next turn are given what those of this one have returned."""
    provider.returns("first", value)
    provider.plays(solution(CALL, call("second", to="†state.other")), probing("state.first"), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    assert len(run.requests) > 1, f"the loop {run.outcome}"
    given = probed(run, 2)
    assert same_value({"state.first": value}, given), f"the probe was given {given}"


NO_SOLUTIONS: dict[str, Turn] = {
    "a Solution that is no JSON": says("I have done it, and all is well."),
    "a Solution that is cut": says('{"calls":[],"output":'),
    "a Solution that is no object": says('["Done."]'),
    "a Solution without an output": solution(order=("calls",)),
}
"""What no document says a word about."""


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize(("topic", "turn"), NO_SOLUTIONS.items(), ids=[topic.split()[-1] for topic in NO_SOLUTIONS])
def test_what_is_no_solution(provider: Scene, implementation: Implementation, topic: str, turn: Turn) -> None:
    """A null output asks again; what a Solution that has none leads to is left open."""
    provider.plays(solution(CALL), DONE)
    control = implementation.run(tools=STEPS)
    control.delivered(1)
    assert 2 == len(control.requests), f"the loop {control.outcome}"
    provider.plays(turn, DONE)

    run = implementation.run(tools=STEPS)

    implementation.diverges(topic, led_to(run))


@requirement("loop010-no-calls-is-no-end")
@pytest.mark.parametrize("behind_calls", [False, True], ids=["at-once", "behind-calls"])
def test_no_calls_and_no_output(provider: Scene, implementation: Implementation, behind_calls: bool) -> None:
    """A Solution that asks for nothing and gives nothing is a turn like any other, in the beginning and later."""
    provider.plays(solution(CALL) if behind_calls else solution(), solution(), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(2 if behind_calls else 1)
    assert 3 == len(run.requests), f"the loop {run.outcome}"


# What a turn leaves behind


@requirement("loop010-solutions-are-not-echoed")
@pytest.mark.parametrize("fails", [False, True], ids=["with-a-result", "with-an-error-too"])
def test_a_solution_is_not_told_again(provider: Scene, implementation: Implementation, fails: bool) -> None:
    """The model reads what its calls have led to, and neither its own text nor the document that it is."""
    said = solution(
        call("first", {"value": "mudskipper"}, to="†state.first"),
        call("second", to="†state.second"),
        meta={"note": "lammergeier"},
    )
    provider.returns("first", "kinkajou")
    if fails:
        provider.raises("second", "not today")
    provider.plays(said, DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    told = run.request(2)
    if place(told, "kinkajou") is None:
        raise NotReached("control: the next Request does not tell the result")
    assert str(said.text) not in texts(told)
    assert not any(_holds(value, said) for value in embedded(told))
    carried = {"its meta": "lammergeier", "parameters of calls": "mudskipper"}
    besides = [what for what, word in carried.items() if place(told, word) is not None]
    implementation.diverges("what the next turn is told besides results and errors", ", ".join(besides) or "nothing")


def _holds(value: Any, said: Turn) -> bool:
    """Whether a Solution stands in a JSON value, as its text or as its document, however deep."""
    if isinstance(value, str):
        return str(said.text) in value
    if value == json.loads(str(said.text)):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(one, said) for one in inner)
