"""Cancelling: a run that its caller cancels ends, does nothing more, and leaves a conversation that goes on.

The kit cancels at moments that it knows: the service or a tool is held at a gate, and the implementation is at rest.
The gate opens when the run has ended, or after the patience for a loop that goes on all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from looptck.bench.benches import loop_bench
from looptck.bench.checks import Implementation, RunOverrides, on, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.confirmation import Approve
from looptck.provider.faults import HttpError
from looptck.provider.gate import Gate
from looptck.provider.gates import cancelled_run_ended
from looptck.provider.mock_run import BESIDE
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.cancelling import cancelled_at, require_cancelling
from looptck.spec.conversing import accepted, answer, carried, guarded, question, returned
from looptck.values.frozen import dataclass
from looptck.values.outcome import Value
from looptck.values.transcript import Cancelled, Ended, HungUp, Replied, SideRequest, ToolBegan
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

ANSWER = "The weather in Paris is fine today."
REPORT = "22 degrees and no wind"
CALL = Call.of("weather", {"city": "Paris"})
LATER = "20"
"""Seconds after which a refused request may come again: the run is cancelled long before."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment in which a run is cancelled: sets the scenario, and returns the gate at which the run waits then."""

    plays: Callable[[Scenario], Gate]
    streams: bool = False
    """Whether only a stream has it."""
    asks: bool = False
    """Whether a call waits for its approval then."""

    def run(self, implementation: Implementation) -> RunOverrides:
        """How its runs differ from others. Raises NotApplicable if the implementation has no such moment."""
        if not self.asks:
            return {}
        implementation.needs("confirm")
        return {"tools": guarded("weather"), "confirms": True}


def _first_byte(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended()
    scenario.plays(Step(says(ANSWER), before=gate), says("Not asked for."))
    return gate


def _in_text(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended()
    scenario.plays(Step(says(ANSWER), holds=(Hold(gate, "The weather"),)), says("Not asked for."))
    return gate


def _behind_a_call(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended()
    scenario.plays(Step(calls(CALL), holds=(Hold(gate, None),)), says("Not asked for."))
    return gate


def _tool_runs(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended(of_a_tool=True)
    scenario.plays(calls(CALL), says("Not asked for."))
    scenario.does("weather", Returns("fine", hold=gate))
    return gate


def _between_tools(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended(of_a_tool=True)
    scenario.plays(calls(CALL, Call.of("note", {"text": "fine"})), says("Not asked for."))
    scenario.does("weather", Returns("fine", hold=gate))
    return gate


def _second_tool_runs(scenario: Scenario, *others: Call) -> Gate:
    gate = cancelled_run_ended(of_a_tool=True)
    scenario.plays(calls(CALL, Call.of("note", {"text": "fine"}), *others), says("Not asked for."))
    scenario.returns("weather", REPORT)
    scenario.does("note", Returns("kept", hold=gate))
    return gate


def _after_a_round(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended()
    scenario.plays(calls(CALL), Step(says(ANSWER), before=gate), says("Not asked for."))
    return gate


def _approval_waits(scenario: Scenario) -> Gate:
    gate = cancelled_run_ended(of_a_tool=True)
    scenario.plays(calls(CALL), says("Not asked for."))
    scenario.decides(Approve(hold=gate))
    return gate


MOMENTS = {
    "before-the-first-byte": Moment(_first_byte),
    "in-text": Moment(_in_text, streams=True),
    "behind-a-call": Moment(_behind_a_call, streams=True),
    "while-a-tool-runs": Moment(_tool_runs),
    "between-tools": Moment(_between_tools),
    "after-a-round": Moment(_after_a_round),
    "before-an-approval": Moment(_approval_waits, asks=True),
}


def _at(*names: str) -> pytest.MarkDecorator:
    """Runs a test for the moments of these names, each in the cells that have it."""
    cells = {name: [on("*/stream/*")] if MOMENTS[name].streams else [] for name in names}
    moments = [pytest.param(MOMENTS[name], id=name, marks=cells[name]) for name in names]
    return pytest.mark.parametrize("moment", moments)


def _since(run: Run, kind: type) -> list[object]:
    """The events of a kind after the run was cancelled."""
    events = run.transcript.events
    place = next(at for at, event in enumerate(events) if isinstance(event, Cancelled))
    return [event for event in events[place:] if isinstance(event, kind)]


@requirement("cancelled-run-ends")
@_at("before-the-first-byte", "in-text", "behind-a-call", "after-a-round")
def test_it_ends(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """The run ends while the service still holds the rest of its reply."""
    require_cancelling(implementation)
    gate = moment.plays(scenario)

    run = cancelled_at(gate, implementation, implementation.begin())

    assert gate.name not in run.gave_up, f"the loop waited until the service went on, and then {run.outcome}"


@requirement("cancelled-run-ends")
@_at("while-a-tool-runs", "between-tools")
def test_it_ends_with_its_tool(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """The run ends while its tool runs, or once the tool has ended; it does not go on."""
    require_cancelling(implementation)
    gate = moment.plays(scenario)

    run = cancelled_at(gate, implementation, implementation.begin())

    went_on = isinstance(run.outcome, Value) and len(run.requests) > 1
    assert not went_on, f"the loop went on after its tool, and {run.outcome}"


@requirement("cancelled-run-ends")
def test_it_ends_while_a_retry_waits(scenario: Scenario, implementation: Implementation) -> None:
    """The service asks for patience; the caller has none, and the run ends before it would have asked again."""
    require_cancelling(implementation)
    refused = Gate("the service has refused a request", lambda event: isinstance(event, Replied))
    scenario.watching = (refused,)
    scenario.plays(HttpError(429, (("retry-after", LATER),)), says("Not asked for."))
    running = implementation.begin()
    bench = loop_bench(implementation.bench)
    refused.wait_here(bench.patience.gate, running.future.done)
    bench.rest()
    if running.future.done():
        implementation.end(running).replied(1)
        raise NotApplicable("the loop does not try again after a while")
    running.cancel()

    run = implementation.end(running)

    assert 1 == len(run.requests), "the loop has asked again after it was cancelled"
    ended = next(event.at for event in run.transcript.events if isinstance(event, Ended))
    waited = ended - run.replied(1).at
    assert waited < int(LATER) / 2, f"the run ended {waited:.1f} s later, when it would have asked again"


@requirement("cancelled-run-is-no-value")
@_at("before-the-first-byte", "in-text", "while-a-tool-runs")
def test_it_is_no_value(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """What the caller gets is no answer: neither what there was of it, nor nothing."""
    require_cancelling(implementation)
    gate = moment.plays(scenario)

    run = cancelled_at(gate, implementation, implementation.begin())

    assert not isinstance(run.outcome, Value), f"the run was cancelled, and the loop {run.outcome}"


@requirement("cancelled-run-asks-no-more")
@_at("in-text", "behind-a-call", "while-a-tool-runs", "between-tools")
def test_it_asks_no_more(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """No model request comes after the run was cancelled."""
    require_cancelling(implementation)
    gate = moment.plays(scenario)

    run = cancelled_at(gate, implementation, implementation.begin())

    beside = [
        event for event in _since(run, SideRequest) if isinstance(event, SideRequest) and event.answered == BESIDE
    ]
    asked = len(run.requests) + len(beside)
    assert 1 == asked, f"the loop has made {asked - 1} more model requests after it was cancelled"


@requirement("cancelled-run-starts-no-tool")
@_at("behind-a-call", "between-tools", "before-an-approval")
def test_it_starts_no_tool(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """No tool begins after the run was cancelled, nor when its call is approved then; those before are not judged."""
    require_cancelling(implementation)
    how = moment.run(implementation)
    gate = moment.plays(scenario)

    run = cancelled_at(gate, implementation, implementation.begin(**how))

    began = [event.tool for event in _since(run, ToolBegan) if isinstance(event, ToolBegan)]
    approved = ", and its call was approved," if moment.asks else ","
    assert [] == began, f"after the run was cancelled{approved} {', '.join(began)} began"


@requirement("cancelled-stream-is-closed")
@_at("before-the-first-byte", "in-text")
def test_its_stream_is_closed(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """The service sees the connection closed, so that it can stop to generate what nobody reads."""
    require_cancelling(implementation)
    gate = moment.plays(scenario)
    gate.opens_on, gate.not_while = lambda event: isinstance(event, HungUp), None
    scenario.watching = (gate,)

    run = cancelled_at(gate, implementation, implementation.begin())

    gate.wait_here(implementation.bench.patience.gate)
    hung_up = [event for event in run.transcript.events if isinstance(event, HungUp)]
    assert hung_up, "the loop has ended, but not closed the connection on which the service answers"


@requirement("conversation-is-carried-once")
@_at("before-the-first-byte", "while-a-tool-runs")
def test_earlier_turns_stay(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """A run is answered, the next one is cancelled; the third question carries the first with its answer."""
    require_cancelling(implementation)
    talk = Talk(implementation)
    scenario.plays(says("It is fine."))
    if "It is fine." not in (talk.run("What is the weather?").value.text or ""):
        raise NotReached("the run before was not answered")
    gate = moment.plays(scenario)
    cancelled_at(gate, implementation, talk.begin("And elsewhere?"))
    scenario.behaviours.clear()
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    wanted = [question("What is the weather?"), answer("It is fine."), question("What time is it?")]
    carried(run.request(1).request.items, wanted)


@requirement("cancelled-run-ends-alone")
def test_another_run_goes_on(scenario: Scenario, implementation: Implementation) -> None:
    """Two runs wait for the service, and one is cancelled; the other gets its turns once that one has ended.

    They have agent objects of their own: what cancels an object may cancel all that it does.
    """
    require_cancelling(implementation)
    implementation.needs("concurrent")
    talk = Talk(implementation, named=False)
    held, asked = cancelled_run_ended(), Gate("the other run has asked", patience=3.0, if_ever=True)
    ended = cancelled_run_ended(of_a_tool=True)
    scenario.plays(Step(says("It is violet."), before=held))
    scenario.returns("note", "kept indigo")  # by which a request that relies on the service shows its run
    scenario.watching = (ended,)
    first = talk.begin("What is the color violet?", mark="violet")
    scenario.plays(Step(calls(Call.of("note", {"text": "indigo"})), before=ended), says("It is indigo."), signal=asked)
    scenario.watching = ()
    second = talk.begin("What is the color indigo?", mark="indigo")
    asked.wait_here(implementation.bench.patience.gate, second.future.done)
    cancelled_at(held, implementation, first)

    run = implementation.end(second)

    if run.failed and not run.requests:
        raise NotApplicable(f"the loop takes no second run at the same time: it {run.outcome}")
    run.request(1)
    assert isinstance(run.outcome, Value), f"another run was cancelled, and this one {run.outcome}"


@requirement("results-before-a-cancel-stay")
@refusable("Whether the next question is accepted is judged by next-turn-after-a-cancel-is-accepted.")
@pytest.mark.parametrize("others", [(), (Call.of("ping"),)], ids=["the-last-runs", "another-waits"])
def test_results_stay(scenario: Scenario, implementation: Implementation, others: tuple[Call, ...]) -> None:
    """The first tool has ended and the second one runs; the next question has the first result, or no call of it."""
    require_cancelling(implementation)
    talk = Talk(implementation)
    gate = _second_tool_runs(scenario, *others)
    cancelled = cancelled_at(gate, implementation, talk.begin("What is the weather?"))
    if not any(one.ended is not None for one in cancelled.ran if one.tool == "weather"):
        raise NotApplicable("the loop began with the second call of the turn, so the first had no result")
    scenario.behaviours.clear()
    scenario.plays(says("It is noon."))

    request = talk.run("What time is it?").request(1).request

    ids = {one.id for one in request.asked if one.tool == "weather"}
    texts = [one.text for one in request.answers if one.id in ids]
    changed = next((text for text in texts if REPORT not in text), None)
    assert changed is None, (
        f"weather had returned {REPORT!r} before the run was cancelled; the next question has {changed!r} as its result"
    )


@requirement("next-turn-after-a-cancel-is-accepted")
@_at(*MOMENTS)
def test_the_conversation_goes_on(scenario: Scenario, implementation: Implementation, moment: Moment) -> None:
    """The next question of the conversation is accepted, and answered."""
    require_cancelling(implementation)
    how = moment.run(implementation)
    talk = Talk(implementation)
    gate = moment.plays(scenario)
    cancelled_at(gate, implementation, talk.begin("What is the weather?", **how))
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?", **how)

    assert run.requests, f"the question after a cancelled run was never asked: the loop {run.outcome}"
    accepted(run.request(1))
    returned(run, "It is noon.")
