"""Events and runs: the caller is told the end once, nothing of other runs, and plain the same as streamed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.assertions import events
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.faults import HttpError
from looptck.provider.gate import Gate
from looptck.provider.gates import cancelled_run_ended, tool_began
from looptck.provider.script import Step
from looptck.provider.toolbox import Returns
from looptck.spec.cancelling import cancelled_at, require_cancelling
from looptck.values.outcome import Value
from looptck.values.transcript import Ended
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

PARIS, NOTE, PING = Call.of("weather", {"city": "Paris"}), Call.of("note", {"text": "Grüße"}), Call.of("ping")
ANSWER = "It is fine in Paris."


def _ordinary(implementation: Implementation) -> Run:
    """A run of one round that ends with its answer."""
    events.require_events(implementation)
    implementation.scenario.plays(calls(PARIS), says(ANSWER))
    run = implementation.run()
    run.delivered(2)
    return run


@requirement("events-tell-calls-apart")
def test_two_turns(scenario: Scenario, implementation: Implementation) -> None:
    """Calls of two turns, to which the model gives two ids, are told under two."""
    events.require_events(implementation)
    scenario.plays(calls(PARIS), calls(NOTE), says(ANSWER))
    run = implementation.run()
    run.request(3)

    told = [one["call_id"] for one in events.calls_told(run)]
    if None in told:
        raise NotApplicable("the loop tells its caller no ids of calls")
    if len(told) != 2:
        raise NotReached(f"two calls are made, and the caller is told of {len(told)}")
    assert len({*told}) == 2, f"the caller is told of the calls of two turns under one id, {told[0]!r}"


@requirement("end-is-told-once")
@pytest.mark.parametrize("end", ["a-value", "an-error", "the-limit", "cancelled"])
def test_end(scenario: Scenario, implementation: Implementation, end: str) -> None:
    """A run that ends with its answer, with an error of the service, at its limit, or cancelled in a tool."""
    ordinary = _ordinary(implementation)
    if not events.ends_told(ordinary):
        raise NotApplicable("the loop tells its caller no end by an event")
    match end:
        case "a-value":
            run = ordinary
        case "an-error":
            scenario.plays(calls(PARIS), HttpError(400))
            run = implementation.run()
            run.request(2)
        case "the-limit":
            implementation.needs("limit")
            scenario.plays(*(calls(PARIS) for _ in range(4)), says(ANSWER))
            run = implementation.run(limit=2)
            run.delivered(1)
        case _:
            require_cancelling(implementation)
            gate = cancelled_run_ended(of_a_tool=True)
            scenario.plays(calls(NOTE), says(ANSWER))
            scenario.does("note", Returns("noted", hold=gate))
            run = cancelled_at(gate, implementation, implementation.begin())

    events.end_is_told_once(run)
    if end == "a-value":
        how = events.ends_told(run)[0].get("how", "value")
        assert how == "value", f"the run {run.outcome}, and the caller is told the end {how}"


@requirement("limit-ends-are-told")
def test_end_at_the_limit(scenario: Scenario, implementation: Implementation) -> None:
    """A run ends with an error of the service, of which an event tells, and another one at its limit."""
    events.require_events(implementation)
    scenario.plays(calls(PARIS), HttpError(400))
    failed = implementation.run()
    failed.request(2)
    if not failed.failed or not events.ends_told(failed):
        raise NotApplicable("the loop tells its caller by no event of the end of a run that failed")
    scenario.plays(*(calls(PARIS) for _ in range(4)), says(ANSWER))

    run = implementation.run(limit=2)

    run.delivered(1)
    if not run.failed:
        raise NotApplicable(f"at its limit a run does not fail: it {run.outcome}")
    assert events.ends_told(run), (
        f"an event tells of the end of a run that failed at the service, and none of this one, which {run.outcome}"
    )


@requirement("results-of-the-last-round-are-told")
@pytest.mark.parametrize("end", ["the-limit", "the-service"])
def test_results_of_the_last_round(scenario: Scenario, implementation: Implementation, end: str) -> None:
    """Behind the second round, of two calls, the limit is reached, or the service refuses the request."""
    events.require_events(implementation)
    if end == "the-limit":
        implementation.needs("limit")
        scenario.plays(*(calls(NOTE, PING) for _ in range(4)), says(ANSWER))
        run = implementation.run(limit=2)
    else:
        scenario.plays(calls(NOTE), calls(PARIS, PING), HttpError(400))
        run = implementation.run()

    run.delivered(2)
    if not run.failed:
        raise NotApplicable(f"the run does not fail: it {run.outcome}")
    events.results_are_told(run)


@requirement("events-of-a-run-are-its-own")
@pytest.mark.parametrize("how", ["conversation", "one-agent"])
def test_one_after_the_other(scenario: Scenario, implementation: Implementation, how: str) -> None:
    """A second run goes on with the conversation of the first, or has its agent object."""
    implementation.needs("conversations" if how == "conversation" else "shared")
    events.require_events(implementation)
    talk = Talk(implementation, named=how == "conversation")
    agent = None if how == "conversation" else talk.id
    scenario.plays(calls(NOTE), says("Noted."))
    talk.run("Note it.", shared=agent).delivered(2)
    scenario.plays(calls(PARIS), says(ANSWER))

    run = talk.run("And the weather?", shared=agent)

    run.delivered(2)
    _is_all_that_is_told(run, "weather")


@requirement("events-of-a-run-are-its-own")
@pytest.mark.parametrize("shared", [False, True], ids=["two-agents", "one-agent"])
def test_at_the_same_time(scenario: Scenario, implementation: Implementation, shared: bool) -> None:
    """The second run comes and goes while the tool of the first runs, unless it waits for the first."""
    implementation.needs("concurrent")
    events.require_events(implementation)
    if shared:
        implementation.needs("shared")
    talk = Talk(implementation, named=False)
    agent = talk.id if shared else None
    began = tool_began("note")
    ended = Gate("the second run has ended", lambda event: isinstance(event, Ended), patience=3.0, if_ever=True)
    scenario.plays(calls(NOTE), says("Noted."))
    scenario.does("note", Returns("result 1 of note", hold=ended))
    scenario.watching = (began,)
    first = talk.begin("Note violet.", mark="violet", shared=agent)
    scenario.behaviours = {}
    scenario.plays(Step(calls(PARIS), before=began), says(ANSWER))
    scenario.watching = (ended,)
    second = talk.begin("The weather, indigo?", mark="indigo", shared=agent)
    runs = {"weather": implementation.end(second), "note": implementation.end(first)}

    if any(received.request.relies for run in runs.values() for received in run.requests):
        raise NotApplicable("the service keeps the history, so that a later request does not show its run")
    whole = {tool: run for tool, run in runs.items() if isinstance(run.outcome, Value)}
    if not whole:
        raise NotReached("neither of two runs at the same time was answered")
    for tool, run in whole.items():
        run.delivered(2)
        _is_all_that_is_told(run, tool)


def _is_all_that_is_told(run: Run, tool: str) -> None:
    """Assert that the caller is told of one call, of this tool, and of one result."""
    told = [one["name"] for one in events.calls_told(run)]
    others = [name for name in told if name != tool]
    assert not others, f"the model has called {tool} in this run, and its caller is told of a call of {others[0]} too"
    assert told == [tool], f"the model has called {tool} once, and the caller is told of {len(told)} calls"
    assert len(events.results_told(run)) <= 1, "the caller of a run with one call is told of more than one result"


@requirement("plain-and-stream-tell-the-same")
def test_plain_and_stream(scenario: Scenario, implementation: Implementation) -> None:
    """Two rounds, in the first of which a tool raises, played plain and streamed."""
    if implementation.started.dialect.get("events") == "streams":
        raise NotApplicable("the driver declares that only runs that ask for streams tell events")
    scenario.raises("ping", "no reply")
    scenario.plays(calls(NOTE, PING), calls(PARIS), says(ANSWER))
    plain = implementation.run(cell=replace(implementation.cell, stream=False))
    streamed = implementation.run()

    for run in (plain, streamed):
        run.delivered(1)
    both = [events.summaries(run) for run in (plain, streamed)]
    only = [[one for one in mine if one not in other] or "nothing more" for mine, other in (both, both[::-1])]
    assert ["nothing more"] * 2 == only, (
        f"the caller of a plain run is told {only[0]}, and that of a streamed one {only[1]}"
    )
    assert len(both[0]) == len(both[1]), f"the caller is told {len(both[0])} events plain, and {len(both[1])} streamed"
