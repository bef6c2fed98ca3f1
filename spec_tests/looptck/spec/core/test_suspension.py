"""Suspension: a run ends before calls that need approval, and another run resumes it with the decisions."""

from __future__ import annotations

import json

import pytest

from looptck.bench.assertions.tool_runs import same_runs
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk, suspended
from looptck.spec.conversing import (
    accepted,
    answer,
    call,
    carried,
    question,
    result,
)
from looptck.spec.resuming import RESULTS, TOOLS, approved, by_call, resumed, stop
from looptck.values.history import Answered, Asked, Item, Opaque, Request, Said, spelled
from looptck.values.plain import MOST, plain
from looptck.values.turns import Call, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

NOTE = Call.of("note", {"text": "first"})
OTHER = Call.of("note", {"text": "second"})
CALL = Call.of("weather", {"city": "Paris"})
ADD = Call.of("add", {"a": 1, "b": 2})
DONE = says("All done.")

SCRIPTS: dict[str, list[Turn]] = {
    "a-call": [calls(NOTE), DONE],
    "beside-others": [calls(CALL, NOTE, ADD, text="I look."), DONE],
    "in-a-later-turn": [calls(CALL), calls(NOTE), calls(ADD), DONE],
    "behind-thinking": [turn(Thinking("What is there to note?"), NOTE), DONE],
    "two-at-once": [calls(NOTE, OTHER), DONE],
}


def _broken(
    scenario: Scenario, implementation: Implementation, script: list[Turn], *, renewed: bool = False
) -> list[Run]:
    """The parts of a run that is suspended, and resumed with approvals."""
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, script)
    scenario.plays(*left)
    return resumed(talk, first, approved, renewed=renewed)


def _equal(whole: Run, parts: list[Run]) -> None:
    """Tool runs, the last request with the result of each call, and the answer are the same."""
    requests = [received for part in parts for received in part.received]
    for received in requests:
        accepted(received)
    assert len(whole.requests) == len(requests), "the model was not asked as often as in an unbroken run"
    same_runs(whole.tools_ran, [one for part in parts for one in part.tools_ran])
    one, other = (run.request(len(run.requests)).request for run in (whole, parts[-1]))
    kinds = [[type(item) for item in request.items] for request in (one, other)]
    assert kinds[0] == kinds[1], (
        f"the last request carries {_in_words(other)}, where that of an unbroken run carries {_in_words(one)}"
    )
    names = [sorted(tool.name for tool in request.tools) for request in (one, other)]
    assert names[0] == names[1], "the last request offers other tools than that of an unbroken run"
    results = [sorted(by_call(request)) for request in (one, other)]
    assert results[0] == results[1], f"the results are {plain(results[1], MOST)}, unbroken {plain(results[0], MOST)}"
    said, rest = ((run.value.text or "").strip() for run in (whole, parts[-1]))
    assert rest, "the resumed run has no answer"
    assert said.endswith(rest), f"the answer is {rest!r}, of an unbroken run {said!r}"


def _in_words(request: Request) -> str:
    """What a request carries, in order: texts by their role, calls and results by their tool."""
    tools = {item.id: item.tool for item in request.asked}

    def word(item: Item) -> str:
        match item:
            case Said():
                return f"a text of the {item.role}"
            case Asked():
                return f"the call of {item.tool}"
            case Answered():
                return f"the result of {tools.get(item.id, 'no call')}"
            case Opaque():
                return item.kind

    return ", ".join(map(word, request.items)) or "nothing"


def _whole(scenario: Scenario, implementation: Implementation, script: list[Turn]) -> Run:
    """The run of the script with tools that need no approval."""
    scenario.plays(*script)
    for tool, text in RESULTS.items():
        scenario.returns(tool, text)
    run = implementation.run("Go.")
    if "All done." not in (run.value.text or ""):
        raise NotReached(f"the control run, without approval, {run.outcome}")
    return run


@requirement("suspended-call-has-not-run")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=list(SCRIPTS))
def test_it_has_not_run(scenario: Scenario, implementation: Implementation, script: list[Turn]) -> None:
    """The calls that wait have not run when the run is suspended."""
    run, _ = stop(scenario, Talk(implementation, named=False), script)

    ran = run.arguments_of("note")
    assert not ran, f"a call that needs approval has run before it was approved, with {plain(ran[0])}"


@requirement("suspended-call-is-told-as-written")
def test_it_is_told_as_written(scenario: Scenario, implementation: Implementation) -> None:
    """Whoever decides reads the tool and the arguments of the calls that wait; other calls of the turn may run."""
    run, _ = stop(scenario, Talk(implementation, named=False), [calls(CALL, NOTE, OTHER), DONE])

    written = [f"{one.tool}({spelled(one.arguments)})" for one in (NOTE, OTHER)]
    for one in suspended(run).calls:
        arguments = one.arguments if isinstance(one.arguments, str) else json.dumps(one.arguments)
        told = f"{one.tool}({spelled(arguments)})"
        assert told in written, f"a decision is asked for about {told}; the calls that wait are {' and '.join(written)}"


@requirement("suspended-call-has-not-run")
def test_a_resumed_run_is_suspended_again(scenario: Scenario, implementation: Implementation) -> None:
    """The model calls the tool once more after the first call was approved: that was for the first call."""
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, [calls(NOTE), calls(OTHER), DONE])
    scenario.plays(*left)

    run = talk.resume(first, approved(first), tools=TOOLS)

    run.delivered(1)
    ran = [one.arguments for part in (first, run) for one in part.ran]
    assert {"text": "second"} not in ran, "a call of the resumed run has run, and it was not approved"
    suspended(run)


@requirement("suspended-call-has-not-run")
def test_another_question_is_no_approval(scenario: Scenario, implementation: Implementation) -> None:
    """A run of a conversation is suspended, and the user asks something else in place of a decision."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    first, _ = stop(scenario, talk, [calls(NOTE)])
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?", tools=TOOLS)

    ran = [*first.arguments_of("note"), *run.arguments_of("note")]
    assert not ran, (
        f"the user has decided nothing and asks something else, and the call that waits ran: {plain(ran[0])}"
    )
    if run.ended and not run.received:
        raise NotApplicable(f"a suspended conversation takes no question: the loop {run.outcome}")
    if run.received and run.request(1).problems:
        raise NotApplicable("the call has not run; whether the service takes the question is another requirement's")
    run.delivered(1)


@requirement("resumed-run-equals-an-unbroken-one")
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=list(SCRIPTS))
def test_it_equals_an_unbroken_run(scenario: Scenario, implementation: Implementation, script: list[Turn]) -> None:
    """Suspended and resumed with approvals, it comes to the same requests, tool runs and answer."""
    whole = _whole(scenario, implementation, script)

    _equal(whole, _broken(scenario, implementation, script))


@requirement("resumed-run-equals-an-unbroken-one")
def test_it_is_resumed_twice(scenario: Scenario, implementation: Implementation) -> None:
    """Calls of two turns need approval: the run is suspended twice, resumed twice, and equals an unbroken one."""
    script = [calls(NOTE), calls(OTHER), DONE]
    whole = _whole(scenario, implementation, script)
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, script)
    scenario.plays(*left)
    second = talk.resume(first, approved(first), tools=TOOLS)
    suspended(second)
    scenario.plays(*left[len(second.requests) :])

    third = talk.resume(second, approved(second), tools=TOOLS)

    _equal(whole, [first, second, third])


@requirement("resume-reruns-nothing")
@pytest.mark.parametrize("name", ["beside-others", "in-a-later-turn"])
def test_nothing_runs_again(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """Other tools, in the same turn or in an earlier one, run once in both halves together."""
    parts = _broken(scenario, implementation, SCRIPTS[name])

    parts[-1].request(1)
    ran = [one.tool for part in parts for one in part.ran]
    for tool in ("weather", "add"):
        assert 1 >= ran.count(tool), f"{tool} has run {ran.count(tool)} times for one call"


@requirement("resume-reruns-nothing")
def test_the_next_question_runs_nothing(scenario: Scenario, implementation: Implementation) -> None:
    """Calls of a resumed run have run; the model answers the next question of the conversation without any."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    first, left = stop(scenario, talk, SCRIPTS["beside-others"])
    scenario.plays(*left)
    *_, ended = resumed(talk, first, approved)
    if "All done." not in (ended.value.text or ""):
        raise NotReached(f"the resumed run should have ended with its answer, but the loop {ended.outcome}")
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?", tools=TOOLS)

    run.request(1)
    ran = [tool for tool, _ in run.tools_ran]
    assert not ran, f"the model was asked another question and called nothing, and {ran[0]} has run again"


@requirement("suspended-state-travels")
@pytest.mark.parametrize("name", ["beside-others", "in-a-later-turn"])
def test_the_state_travels(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """The driver has forgotten everything but the state, and the resumed run is as good."""
    whole = _whole(scenario, implementation, SCRIPTS[name])

    _equal(whole, _broken(scenario, implementation, SCRIPTS[name], renewed=True))


@requirement("resumed-run-is-in-its-conversation")
def test_the_conversation_goes_on(scenario: Scenario, implementation: Implementation) -> None:
    """A run of a conversation is suspended and resumed; the next question carries all of it."""
    talk = Talk(implementation)
    scenario.plays(calls(NOTE))
    scenario.returns("note", "kept as number 7")
    first = talk.run("Keep a note.", tools=TOOLS)
    suspended(first)
    scenario.plays(DONE)
    ended = talk.resume(first, approved(first), tools=TOOLS)
    if "All done." not in (ended.value.text or ""):
        raise NotReached(f"the resumed run should have ended with its answer, but the loop {ended.outcome}")
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?", tools=TOOLS)

    request = run.request(1)
    accepted(request)
    wanted = [question("Keep a note."), call("note", NOTE.arguments), result("kept as number 7"), answer("All done.")]
    carried(request.request.items, [*wanted, question("What time is it?")])
