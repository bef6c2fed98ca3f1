"""Profile ``agent-loop-010``: one Request for each turn, until a Solution has an output that is not null."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import model_calls
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, embedded, place, solution, texts
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.open_points import classify
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.history import same_value
from looptck.values.plain import plain
from looptck.values.transcript import Received
from looptck.values.turns import Turn, says
from looptck.values.verdicts import NotReached

CHAIN = (
    call("first", {"value": 1}, to="†state.first"),
    call("second", {"value": "†state.first"}, to="†state.second"),
    call("third", {"value": "†state.second"}, to="†state.third"),
)
"""Calls, each of which needs the result of the call before it."""
CALL = CHAIN[0]
STEPS = tools("first", "second", "third")


# One Request for each turn


@requirement("loop010-one-request-per-turn")
def test_seven_turns(scenario: Scenario, implementation: Implementation) -> None:
    """Seven Solutions take seven Requests, and the calls of each run before the next Request."""
    scenario.plays(*(solution(call("first", {"value": n}, to=f"†state.x{n}")) for n in range(6)), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(7)
    model_calls(run, 7)
    assert [[("first", {"value": n})] for n in range(6)] == run.rounds


@requirement("loop010-one-request-per-turn")
def test_a_call_that_still_runs(scenario: Scenario, implementation: Implementation) -> None:
    """A call takes a while; the next Request comes only once it has ended."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n == 4, ABSENCE)
    scenario.does("third", Returns("at last", hold=again))
    scenario.plays(*(solution(one) for one in CHAIN), DONE)

    run = implementation.run(tools=STEPS)

    run.tool_began("third")
    assert [again.name] == run.gave_up, "the next Request came while a call was running"


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
"""Messages of all types that the caller writes, most of them between texts, each with a different word."""


@requirement("loop010-first-request-is-the-initial-context")
@pytest.mark.parametrize("order", [list(CONTEXT), list(reversed(CONTEXT))], ids=["forth", "back"])
def test_the_context_is_told(scenario: Scenario, implementation: Implementation, order: list[str]) -> None:
    """The first Request contains every message, in the order of the context."""
    scenario.plays(DONE)

    run = implementation.run(context=[CONTEXT[word] for word in order], tools=STEPS)

    places = {word: place(run.request(1), word) for word in order}
    assert [] == [word for word, at in places.items() if at is None], "messages are missing"
    assert order == sorted(order, key=lambda word: places[word] or 0)


@requirement("loop010-first-request-is-the-initial-context")
def test_a_run_knows_nothing_of_the_one_before(scenario: Scenario, implementation: Implementation) -> None:
    """The first Request of a run contains neither results nor errors of an earlier run."""
    scenario.returns("first", "hoatzin")
    scenario.raises("second", "ibex")
    scenario.plays(solution(CALL, call("second", to="†state.second")), DONE)
    before = implementation.run(tools=STEPS).request(2)
    missing = [word for word in ("hoatzin", "ibex") if place(before, word) is None]
    if missing:
        raise NotReached(f"control: request 2 of the run before lacks {missing}")
    scenario.plays(DONE)

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
"""Results of most types, each with a number in it that can be searched for."""


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_results_are_told(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The next Request contains the results of the turn's calls."""
    scenario.returns("first", value)
    scenario.returns("second", "jacana")
    scenario.plays(solution(CALL, call("second", to="†state.other")), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    assert 2 == len(run.requests), f"the loop {run.outcome}"
    sent = run.request(2)
    lost = [word for word in ("8400312577", "jacana") if place(sent, word) is None]
    assert [] == lost, f"request 2 lacks what the calls of turn 1 returned: {' and '.join(lost)}"


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_results_are_there_in_the_next_turn(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """Calls of the next turn get the results of this turn's calls."""
    scenario.returns("first", value)
    scenario.plays(solution(CALL, call("second", to="†notes.other")), probe_turn("state.first"), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    assert len(run.requests) > 1, f"the loop {run.outcome}"
    given = probed_values(run, 2)
    how = f"got {plain(given.get('state.first'))}" if given else "never ran"
    assert same_value({"state.first": value}, given), (
        f"`first` returned {plain(value)}, and a call of the next turn that reads it {how}"
    )


@requirement("loop010-null-output-asks-again")
def test_results_stay_in_later_turns(scenario: Scenario, implementation: Implementation) -> None:
    """The Request after the next still contains the results of the turn's calls, which nothing has overwritten."""
    scenario.returns("first", "8400312577")
    scenario.plays(solution(CALL), solution(call("second", to="†state.other")), DONE)

    run = implementation.run(tools=STEPS)

    sent = run.request(3)
    if place(run.request(2), "8400312577") is None:
        raise NotReached("control: request 2 lacks what the call of turn 1 returned")
    assert place(sent, "8400312577") is not None, (
        "request 2 has what the call of turn 1 returned, and request 3 no longer has it"
    )


NO_SOLUTIONS: dict[str, Turn] = {
    "a Solution that is not JSON": says("I have done it, and all is well."),
    "a Solution that is cut": says('{"calls":[],"output":'),
    "a Solution that is not an object": says('["Done."]'),
    "a Solution without an output": solution(order=("calls",)),
    "a Solution whose calls are texts": says('{"calls":["first"],"output":null}'),
}
"""Replies that no document specifies."""


@requirement("loop010-null-output-asks-again")
@pytest.mark.parametrize(("topic", "turn"), NO_SOLUTIONS.items(), ids=[topic.split()[-1] for topic in NO_SOLUTIONS])
def test_what_is_no_solution(scenario: Scenario, implementation: Implementation, topic: str, turn: Turn) -> None:
    """A null output leads to another Request; the effect of a Solution without output is left open."""
    scenario.plays(solution(CALL), DONE)
    control = implementation.run(tools=STEPS)
    control.delivered(1)
    assert 2 == len(control.requests), f"the loop {control.outcome}"
    scenario.plays(turn, DONE)

    run = implementation.run(tools=STEPS)

    implementation.diverges(topic, classify(run))


@requirement("loop010-no-calls-is-no-end")
@pytest.mark.parametrize("behind_calls", [False, True], ids=["at-once", "behind-calls"])
def test_no_calls_and_no_output(scenario: Scenario, implementation: Implementation, behind_calls: bool) -> None:
    """A Solution with neither calls nor an output is a turn like any other, at the start and later."""
    scenario.plays(solution(CALL) if behind_calls else solution(), solution(), DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(2 if behind_calls else 1)
    asked = len(run.requests)
    assert 3 == asked, f"a Solution with neither calls nor an output was the last of {asked}; the loop {run.outcome}"


# What the next Request contains of a turn


@requirement("loop010-solutions-are-not-echoed")
@pytest.mark.parametrize("fails", [False, True], ids=["with-a-result", "with-an-error-too"])
def test_a_solution_is_not_told_again(scenario: Scenario, implementation: Implementation, fails: bool) -> None:
    """The next Request contains the results of the calls, but not the Solution, neither as text nor as JSON."""
    said = solution(
        call("first", {"value": "mudskipper"}, to="†state.first"),
        call("second", to="†state.second"),
        meta={"note": "lammergeier"},
    )
    scenario.returns("first", "kinkajou")
    if fails:
        scenario.raises("second", "not today")
    scenario.plays(said, DONE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    sent = run.request(2)
    if place(sent, "kinkajou") is None:
        raise NotReached("control: the next Request does not contain the result")
    assert str(said.text) not in texts(sent), "the next Request has the text of the Solution"
    assert not any(_holds(value, said) for value in embedded(sent)), "the next Request has the Solution as JSON"
    carried = {"its meta": "lammergeier", "parameters of calls": "mudskipper"}
    others = [name for name, word in carried.items() if place(sent, word) is not None]
    implementation.diverges("other content of the next Request than results and errors", ", ".join(others) or "nothing")


def _holds(value: Any, said: Turn) -> bool:
    """Whether a JSON value contains a Solution, as its text or as its document, at any depth; one may lack its meta."""
    if isinstance(value, str):
        return str(said.text) in value
    written = json.loads(str(said.text))
    if isinstance(value, dict) and all(key in value and value[key] == written[key] for key in ("calls", "output")):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(one, said) for one in inner)
