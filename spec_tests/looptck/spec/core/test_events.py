"""Events of calls: while a run goes on, its caller is told of each call and each result, once and in order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from looptck.bench.assertions import events
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.confirmation import Reject
from looptck.provider.gates import caller_is_told_of_a_call, tool_begins_if_ever, tool_ended
from looptck.provider.script import Step
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.spec.conversing import guarded
from looptck.spec.long_results import is_told_as_shortened, long_text
from looptck.spec.resuming import approved, resumed, stop
from looptck.spec.unrunnable import UNRUNNABLE
from looptck.values.framing import DEFAULT
from looptck.values.history import holds
from looptck.values.plain import differs, plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

PARIS, NOTE, PING = Call.of("weather", {"city": "Paris"}), Call.of("note", {"text": "Grüße"}), Call.of("ping")
ADD = Call.of("add", {"a": 1, "b": 2})
ANSWER = "It is fine in Paris."
SLOW = DEFAULT.but(fragment=1)


def _played(implementation: Implementation, *turns: Turn, answer: str = ANSWER) -> Run:
    """A run in which the model was asked for all of these turns, and again after the last of them."""
    events.require_events(implementation)
    implementation.scenario.plays(*(Step(turn, SLOW) for turn in turns), says(answer))
    run = implementation.run()
    run.request(len(turns) + 1)
    return run


@requirement("running-calls-are-told")
@pytest.mark.parametrize(
    "turns",
    [(calls(PARIS),), (calls(PARIS, NOTE, ADD),), (calls(PARIS), calls(PARIS, PING)), (calls(PARIS, PARIS),)],
    ids=["one", "three", "again", "twins"],
)
def test_calls_are_told(implementation: Implementation, turns: tuple[Turn, ...]) -> None:
    """One call, three of a turn, the same in two turns, the same twice in a turn."""
    run = _played(implementation, *turns)

    events.each_run_is_told_once(run)


@requirement("running-calls-are-told")
def test_a_call_of_a_resumed_run(scenario: Scenario, implementation: Implementation) -> None:
    """A call runs when its run is resumed; the caller is told of it there, or was told before it was asked."""
    parts = _resumed(scenario, implementation)

    assert any(events.calls_told(part) for part in parts), (
        "the call that was approved ran in the resumed run, and the caller is told of it neither there nor before"
    )


@requirement("told-calls-get-one-result")
def test_a_result_of_a_resumed_run(scenario: Scenario, implementation: Implementation) -> None:
    """A call runs when its run is resumed, which also tells its result."""
    parts = _resumed(scenario, implementation)

    if not any(events.calls_told(part) for part in parts):
        raise NotReached("the caller is never told of the call")
    assert any(events.results_told(part) for part in parts[1:]), (
        "the call that was approved ran in the resumed run, and the caller, which was told of it, is told no result"
    )


def _resumed(scenario: Scenario, implementation: Implementation) -> list[Run]:
    """The parts of a run that is suspended before a call and resumed with its approval, whereupon the tool ran."""
    implementation.needs("suspend")
    events.require_events(implementation)
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, [calls(NOTE), says(ANSWER)])
    scenario.plays(*left)
    parts = resumed(talk, first, approved)
    if not any(part.ran for part in parts[1:]):
        raise NotReached(f"the approved call never ran; the loop {parts[-1].outcome}")
    return parts


@requirement("told-calls-have-their-arguments")
@pytest.mark.parametrize("turn", [calls(PARIS), calls(NOTE, PING, ADD)], ids=["one", "three"])
def test_arguments(implementation: Implementation, turn: Turn) -> None:
    """The arguments come in pieces of one character, if they come in pieces."""
    run = _played(implementation, turn)

    events.arguments_are_told(run, turn.calls)


@requirement("pieces-of-arguments-join")
def test_pieces(implementation: Implementation) -> None:
    """Two calls of a turn, in pieces of one character."""
    run = _played(implementation, calls(NOTE, PARIS))

    events.pieces_join(run, [NOTE, PARIS])


ENDS: dict[str, Sequence[Behaviour]] = {
    "text": [Returns("calm")],
    "nothing": [Returns(None)],
    "empty": [Returns("")],
    "error": [Raises("no such place")],
    "error-without-words": [Raises("")],
}


@requirement("told-calls-get-one-result")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("turn", [calls(PARIS), calls(NOTE, PARIS, PING)], ids=["alone", "beside-others"])
def test_results_of_tools(scenario: Scenario, implementation: Implementation, turn: Turn, end: str) -> None:
    """A tool returns a text, nothing, an empty text, or raises, alone or in the middle of others."""
    scenario.does("weather", *ENDS[end])

    run = _going_on(implementation, turn)

    if not events.calls_told(run):
        raise NotReached("the caller is told of no call")
    events.results_close_their_calls(run)


@requirement("told-calls-get-one-result")
def test_results_of_two_turns(implementation: Implementation) -> None:
    """Two turns with two calls each, of which two have the same tool."""
    run = _played(implementation, calls(PARIS, PING), calls(NOTE, PARIS))

    if not events.calls_told(run):
        raise NotReached("the caller is told of no call")
    events.results_close_their_calls(run)


@requirement("told-calls-get-one-result")
@pytest.mark.parametrize("call", UNRUNNABLE)
def test_results_of_calls_that_do_not_run(implementation: Implementation, call: Call) -> None:
    """A call of an unknown tool, or with arguments that cannot be read, before one that runs."""
    run = _going_on(implementation, calls(call, NOTE))

    events.results_close_their_calls(run)


@requirement("call-that-cannot-run-is-told-as-failed")
@pytest.mark.parametrize("call", UNRUNNABLE)
def test_failure_of_a_call_that_does_not_run(implementation: Implementation, call: Call) -> None:
    """A call of an unknown tool, or with arguments that cannot be read: who is told of failures is told of this one."""
    run = _going_on(implementation, calls(call, NOTE))

    ids = {one["call_id"] for one in events.calls_told(run) if one["name"] == call.tool}
    told = [one for one in events.results_told(run) if one["call_id"] in ids and "failed" in one]
    if None in ids or not told:
        raise NotApplicable("the caller is not told of this call, or not whether it has failed")
    assert told[0]["failed"], f"the call of {call.tool} could not run, and the caller is told that it has not failed"


@requirement("told-calls-get-one-result")
def test_results_of_rejected_calls(scenario: Scenario, implementation: Implementation) -> None:
    """One call is rejected, and another of its turn runs."""
    implementation.needs("confirm")
    events.require_events(implementation)
    scenario.plays(calls(NOTE, PARIS), says(ANSWER))
    scenario.decides(Reject("Not on a Sunday."))

    run = implementation.run(tools=guarded("note"), confirms=True)

    _goes_on(run)
    events.results_close_their_calls(run)


def _going_on(implementation: Implementation, turn: Turn) -> Run:
    """A run that answers after this turn. NotApplicable if the loop ends it for a call that has failed."""
    events.require_events(implementation)
    implementation.scenario.plays(turn, says(ANSWER))
    run = implementation.run()
    _goes_on(run)
    return run


def _goes_on(run: Run) -> None:
    run.delivered(1)
    if run.ended and len(run.requests) == 1 and (run.failed or len(run.ran) < len(run.delivered(1).calls)):
        raise NotApplicable("the loop ends the run with a call that has failed or cannot run, which its caller gets")
    run.request(2)


@requirement("told-results-are-those-of-the-model")
@pytest.mark.parametrize("fails", [False, True], ids=["all-return", "one-raises"])
def test_results(scenario: Scenario, implementation: Implementation, fails: bool) -> None:
    """Three calls of a turn; the second tool returns, or raises."""
    if fails:
        scenario.raises("weather", "no such place")

    run = _going_on(implementation, calls(NOTE, PARIS, PING))

    events.results_are_those_of_the_model(run, 1)


WHOLE = {"long": long_text(5_000), "lines": 'It\'s "calm" there:\n\tno wind \\ no clouds.\nAll of it.'}
"""Texts that a tool returns: a long one, and one with lines, quotes, a tab and a backslash."""


@requirement("told-results-are-those-of-the-model")
@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_whole_results(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """The caller is told the whole text, or in words that it is shortened."""
    scenario.returns("weather", text)

    run = _going_on(implementation, calls(PARIS))

    [(event, _, for_the_model)] = events.results_of_a_turn(run, 1)
    told = events.words_told(event)
    whole = holds(told, text) or holds(told, for_the_model)
    assert whole or is_told_as_shortened(told), (
        f"the caller is told another text than the tool gave, which does not say that it is shortened: "
        f"{differs(text, told)}"
    )


@requirement("told-results-are-those-of-the-model")
@pytest.mark.parametrize(
    "text", ["2 errors and 1 failure in the log.", '{"error": null, "failed": 0}'], ids=["words", "json"]
)
def test_results_that_tell_of_errors(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """A tool returns a text about errors: it has not failed."""
    scenario.returns("weather", text)

    run = _going_on(implementation, calls(NOTE, PARIS))

    events.results_are_those_of_the_model(run, 1)


@requirement("told-results-are-those-of-the-model")
def test_results_in_another_order(scenario: Scenario, implementation: Implementation) -> None:
    """The first of two tools ends after the second, if they run at the same time."""
    implementation.needs("parallel")
    held = tool_ended("weather")
    held.patience, held.if_ever = 2.0, True
    scenario.does("note", Returns("result 1 of note", hold=held))

    run = _going_on(implementation, calls(NOTE, PARIS))

    events.results_are_those_of_the_model(run, 1)


@requirement("events-tell-calls-apart")
def test_twins(scenario: Scenario, implementation: Implementation) -> None:
    """Two equal calls of one turn; without ids, the result of the first is told before the second call."""
    run = _played(implementation, calls(PARIS, PARIS))

    told = [one["call_id"] for one in events.calls_told(run)]
    if len(told) == len(run.ran) == 1:
        raise NotApplicable("one of the two calls runs, and the caller is told of that one")
    if len(told) != 2:
        raise NotReached(f"two calls are made, and the caller is told of {len(told)}")
    if [None, None] == told:
        _told_one_after_the_other(scenario, implementation)
        return
    assert None not in told, "the caller is told of one of two equal calls of one turn without an id"
    assert len({*told}) == 2, f"the caller is told of two calls of one turn under one id, {told[0]!r}"
    results = [one["call_id"] for one in events.results_told(run)]
    assert sorted(told) == sorted(results), (
        f"the calls are told as {plain(told)}, and the results as those of {plain(results)}"
    )
    sent = {one.id: one.text for one in run.request(2).request.answers}
    for event in events.results_told(run):
        if "result" in event and event["call_id"] in sent:
            events.result_is_told(event, {}, sent[event["call_id"]])


def _told_one_after_the_other(scenario: Scenario, implementation: Implementation) -> None:
    """The tool of the first call waits for that of the second, which shows a loop that runs both at the same time."""
    scenario.does("weather", Returns("calm", hold=tool_begins_if_ever("weather", 2)))
    run = _played(implementation, calls(PARIS, PARIS))
    order = [event["kind"] for event in events.told(run) if event["kind"] in {"call", "result"}]
    assert ["call", "result"] * 2 == order, (
        "the caller is told of two equal calls of one turn without an id, and not of the result of the first before "
        f"the second call, but in the order {', '.join(order)}"
    )


@requirement("calls-are-told-while-they-run")
def test_in_time(scenario: Scenario, implementation: Implementation) -> None:
    """The tool ends once the caller is told of its call, or after a while."""
    told = caller_is_told_of_a_call()
    scenario.does("weather", Returns("calm", hold=told))

    run = _going_on(implementation, calls(PARIS))

    run.tool_ended("weather")
    assert [] == run.gave_up, "the tool runs, and the caller is not told of its call"


@requirement("events-keep-the-order-of-rounds")
def test_rounds(implementation: Implementation) -> None:
    """Two rounds."""
    run = _played(implementation, calls(NOTE), calls(PARIS))

    events.order_is_kept(run, "note", "weather")


@requirement("answer-comes-after-the-events")
def test_answer(implementation: Implementation) -> None:
    """Two rounds, and the answer in a stream."""
    run = _played(implementation, calls(NOTE), calls(PARIS))

    events.answer_comes_last(run, ANSWER)
