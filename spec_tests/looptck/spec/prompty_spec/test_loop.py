"""Profile ``prompty-spec``: stimuli shared with ``core``, judged by the document's own answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.assertions.caller import error_says
from looptck.bench.assertions.results import answers_in_order
from looptck.bench.assertions.tool_runs import model_calls, tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.provider import gates
from looptck.provider.faults import HttpError
from looptck.provider.script import Hold, Step
from looptck.spec.python_errors import no_handler, of_python, raised, reached_the_caller
from looptck.spec.rounds import asks
from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked
from looptck.values.plain import MOST, amount, plain
from looptck.values.turns import Call, calls, says, turn
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

SLOW = DEFAULT.but(fragment=1)
"""A stream in single characters."""


@requirement("spec-calls-make-a-tool-round")
@pytest.mark.parametrize("stop", ["calls", pytest.param("end", marks=on("openai-chat"))])
def test_tool_round(scenario: Scenario, implementation: Implementation, stop: Any) -> None:
    """The tool runs whether the finish reason is tool_calls or stop."""
    scenario.plays(replace(asks(1), stop=stop), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": "round 1"}}])


@requirement("spec-echoed-call-has-the-documents-form")
def test_echoed_call(scenario: Scenario, implementation: Implementation) -> None:
    """The echoed call has the id, type, name and exact arguments that the model wrote."""
    written = '{ "text":  "caf\\u00e9" }'
    scenario.plays(calls(Call("note", written)), says("Noted."))

    run = implementation.run()

    run.delivered(1)
    echoed = [one.get("tool_calls") for one in run.request(2).body["messages"] if one["role"] == "assistant"]
    wanted = [[{"id": "call_1a", "type": "function", "function": {"name": "note", "arguments": written}}]]
    assert wanted == echoed, f"the next request carries the calls {plain(echoed, MOST)}, not {plain(wanted, MOST)}"


@requirement("spec-calls-come-before-their-results")
def test_order_of_messages(scenario: Scenario, implementation: Implementation) -> None:
    """In the history the calls of a turn come before all its results."""
    scenario.plays(calls(Call.of("ping"), Call.of("note", {"text": "x"})), says("Done."))

    run = implementation.run()

    run.delivered(1)
    rounds = [item for item in run.request(2).request.items if isinstance(item, Asked | Answered)]
    assert [Asked, Asked, Answered, Answered] == [type(item) for item in rounds], (
        f"the turn has two calls, and request 2 has, in this order: {'; '.join(map(str, rounds)) or 'none of them'}"
    )


@requirement("spec-handler-gets-the-parsed-arguments")
def test_parsed_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """Numbers arrive as numbers, text as text."""
    scenario.plays(calls(Call.of("add", {"a": 1, "b": 2.5})), says("3.5"))

    run = implementation.run()

    tools_ran(run, [{"add": {"a": 1, "b": 2.5}}])


@requirement("spec-bad-arguments-raise")
@on("openai-chat", "openai-responses", "anthropic-messages/stream/*")
def test_bad_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The caller gets an error, and the model is not asked again."""
    scenario.plays(calls(Call("weather", '{"city": ')), says("Sorry."))

    run = implementation.run()

    run.delivered(1)
    ran = f"{plain(run.tools_ran)} ran, and " if run.tools_ran else ""
    told = "the model was asked again, and " if len(run.requests) > 1 else ""
    assert run.failed, f"the arguments are not JSON, and the caller got no error: {ran}{told}the loop {run.outcome}"
    model_calls(run, 1)


def _without_handler(scenario: Scenario, implementation: Implementation) -> Run:
    tools = [replace(tool, handled=tool.name != "weather") for tool in agent("assistant").tools]
    scenario.plays(calls(Call.of("weather", {"city": "Paris"})), says("Sorry."))
    run = implementation.run(tools=tools)
    run.delivered(1)
    return run


@requirement("spec-missing-handler-raises")
def test_missing_handler(scenario: Scenario, implementation: Implementation) -> None:
    """A declared tool without a handler ends the loop with a ValueError."""
    of_python(implementation, "ValueError")

    run = _without_handler(scenario, implementation)

    raised(run, "ValueError", no_handler(run))


@requirement("spec-missing-handler-error-has-the-documents-text")
def test_missing_handler_text(scenario: Scenario, implementation: Implementation) -> None:
    """The message names the tool and its kind."""
    run = _without_handler(scenario, implementation)

    error_says(run, "No handler registered for tool: weather (kind: function)")


@requirement("spec-raising-handler-ends-the-loop")
def test_raising_handler(scenario: Scenario, implementation: Implementation) -> None:
    """The handler's own error reaches the caller with its type and message."""
    scenario.plays(calls(Call.of("weather", {"city": "Atlantis"})), says("Sorry."))
    scenario.raises("weather", "there is no such city", "LookupError")

    run = implementation.run()

    run.delivered(1)
    if not run.tools_ran:
        raise NotReached(f"the handler never ran: the loop {run.outcome}")
    reached_the_caller(implementation, run, "LookupError", "there is no such city")
    model_calls(run, 1)


@requirement("spec-one-tool-message-for-each-call")
def test_tool_messages(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls get three results, in call order."""
    scenario.plays(calls(*(Call.of("note", {"text": str(n)}) for n in range(3))), says("Done."))

    run = implementation.run()

    run.delivered(1)
    results = len(run.new_answers(1))
    assert results == 3, f"the turn had 3 calls, and the next request has {amount(results, 'result')}"
    answers_in_order(run, 1)


@requirement("spec-failed-model-call-ends-the-loop")
def test_failed_model_call(scenario: Scenario, implementation: Implementation) -> None:
    """A model call that finally fails after a tool round ends the loop with an error."""
    failing = HttpError(400, message="This model does not exist.")
    scenario.plays(asks(1), *[failing] * 4)

    run = implementation.run()

    run.replied(2)
    assert run.failed, f"the loop {run.outcome}"


@requirement("spec-text-is-forwarded")
def test_text_is_forwarded(scenario: Scenario, implementation: Implementation) -> None:
    """The provider sends the rest of the answer once the caller has its beginning; a loop may hand on whole words."""
    held = Hold(gates.caller_has("A"), after="A long st")
    scenario.plays(asks(1), Step(says("A long story."), SLOW, holds=(held,)))

    run = implementation.run()

    run.delivered(2)
    assert [] == run.gave_up, "the caller received nothing while the answer was being written"
    got = "".join(chunk.text for chunk in run.chunks)
    assert "A long story." == got.strip(), f"the chunks that the caller received are {got!r}, not 'A long story.'"


WRITTEN = '{"text": "a longer text"}'


@requirement("spec-arguments-are-whole-before-tools-run")
def test_whole_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The stream stops for a while before the last character of the arguments; the tool runs only after that."""
    early = gates.tool_begins_too_early("note")
    hold = Hold(early, after=_events_before_the_last_piece(implementation))
    scenario.plays(Step(calls(Call("note", WRITTEN)), SLOW, holds=(hold,)), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": "a longer text"}}])
    assert [early.name] == run.gave_up, "the tool started before its arguments were complete"


def _events_before_the_last_piece(implementation: Implementation) -> int:
    """The number of events in the stream before the one with the last character of the arguments."""
    wire = WIRES[implementation.cell.wire]
    turns = (calls(Call("note", text)) for text in (WRITTEN, f"{WRITTEN[:-1]} }}"))
    pairs = zip(*(wire.events(one.numbered(1), 1, SLOW) for one in turns), strict=False)
    return next(place for place, (one, other) in enumerate(pairs) if one != other)


@requirement("spec-tool-turn-is-read-to-its-end")
def test_all_calls_of_a_stream(scenario: Scenario, implementation: Implementation) -> None:
    """The last of five calls, in the last delta of a long stream, runs like the first."""
    wanted = [Call.of("note", {"text": f"number {n}"}) for n in range(5)]
    scenario.plays(Step(calls(*wanted), SLOW), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": f"number {n}"}} for n in range(5)])
    calls_echoed(run, 1)


@requirement("spec-no-text-of-a-tool-turn")
def test_no_text_of_a_tool_turn(scenario: Scenario, implementation: Implementation) -> None:
    """Text after the first delta with tool calls is not forwarded; forwarding of earlier text is recorded."""
    scenario.plays(calls(Call.of("ping"), text="Secret thoughts."), says("Done."))
    early = implementation.run()
    late = DEFAULT.but(calls_first=True) if implementation.cell.wire == "openai-chat" else DEFAULT
    scenario.plays(Step(turn(Call.of("ping"), "Secret thoughts."), late), says("Done."))

    run = implementation.run()

    run.delivered(2)
    assert "Secret" not in "".join(chunk.text for chunk in run.chunks)
    forwarded = "Secret" in "".join(chunk.text for chunk in early.chunks)
    implementation.diverges("text before calls in a stream", "forwarded" if forwarded else "held back")
