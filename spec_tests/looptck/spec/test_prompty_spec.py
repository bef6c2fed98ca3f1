"""Profile ``prompty-spec``: the stimuli are shared with ``core``, the answers are the document's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, on, requirement
from looptck.expectations import answers_in_order, calls_echoed, error, tools_ran
from looptck.framing import NATURAL
from looptck.history import Answered, Asked, Said
from looptck.kit import Scene
from looptck.outcome import Failed
from looptck.provider import gates
from looptck.provider.faults import HttpError
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.turns import Call, Turn, calls, says, turn
from looptck.wires import WIRES

SLOW = NATURAL.but(fragment=1)
"""A stream in single characters."""


def _asks(n: int) -> Turn:
    return calls(Call.of("note", {"text": f"round {n}"}))


def _asked(run: Run, times: int) -> None:
    """The model was asked this many times; a loop that was refused an answer before could not ask it again."""
    made = len(run.requests)
    if 0 < made < times:
        run.delivered(made)

    assert times == made


@requirement("spec-default-limit-is-ten")
def test_default_limit_is_ten(provider: Scene, implementation: Implementation) -> None:
    """An endless conversation ends after ten model calls."""
    provider.always(_asks)

    run = implementation.run()

    run.delivered(1)
    _asked(run, 10)


@requirement("spec-prompt-comes-from-agent-and-inputs")
def test_prompt(provider: Scene, implementation: Implementation) -> None:
    """The input stands in the user's message of the first request."""
    provider.plays(says("Hello."))

    run = implementation.run("What is the weather?")

    said = [item for item in run.request(1).request.items if isinstance(item, Said)]
    assert ["What is the weather?"] == [item.text.strip() for item in said if item.role == "user"]


@requirement("spec-runtime-tools-are-offered")
def test_runtime_tools(provider: Scene, implementation: Implementation) -> None:
    """Each request offers the tools of the run."""
    provider.plays(_asks(1), says("Done."))

    run = implementation.run()

    run.request(2)
    for received in run.requests:
        assert {tool.name for tool in agent("assistant").tools} == {tool.name for tool in received.request.tools}


@requirement("spec-limit-counts-model-calls")
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_limit(provider: Scene, implementation: Implementation, limit: int) -> None:
    """With the limit N there are N model calls, none for N = 0; that there is one for N = 1 is the control."""
    provider.always(_asks)
    if limit == 0:
        implementation.run(limit=1).delivered(1)

    run = implementation.run(limit=limit)

    _asked(run, limit)
    assert run.failed, f"the loop {run.outcome}"


@requirement("spec-last-round-runs-its-tools")
def test_last_round(provider: Scene, implementation: Implementation) -> None:
    """The guard stands at the top of the loop: every round's tools have run when it strikes."""
    provider.always(_asks)

    run = implementation.run(limit=3)

    run.delivered(3)
    assert [("note", {"text": f"round {n}"}) for n in (1, 2, 3)] == run.tools_ran


@requirement("spec-limit-raises-runtime-error")
def test_limit_error_type(provider: Scene, implementation: Implementation) -> None:
    """The error's type is RuntimeError."""
    provider.always(_asks)

    run = implementation.run(limit=3)

    run.delivered(3)
    error(run, {"type": "RuntimeError"})


@requirement("spec-limit-error-has-the-documents-text")
@pytest.mark.parametrize("limit", [1, 3])
def test_limit_error_text(provider: Scene, implementation: Implementation, limit: int) -> None:
    """The message names the limit."""
    provider.always(_asks)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    error(run, {"message": f"Agent loop exceeded {limit} iterations"})


@requirement("spec-each-iteration-sends-all-messages")
def test_all_messages(provider: Scene, implementation: Implementation) -> None:
    """Request N holds the prompt, N-1 turns with calls, and their results."""
    provider.plays(_asks(1), _asks(2), _asks(3), says("Done."))

    run = implementation.run()

    run.request(4)
    for received in run.requests:
        rounds = [type(item) for item in received.request.items if isinstance(item, Asked | Answered)]
        assert [Asked, Answered] * (received.n - 1) == rounds
    assert 4 == len(run.requests)


@requirement("spec-calls-make-a-tool-round")
@pytest.mark.parametrize("stop", ["calls", pytest.param("end", marks=on("openai-chat"))])
def test_tool_round(provider: Scene, implementation: Implementation, stop: Any) -> None:
    """The tool runs whether the reply finished with tool_calls or with stop."""
    provider.plays(replace(_asks(1), stop=stop), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": "round 1"}}])


@requirement("spec-echoed-call-has-the-documents-form")
def test_echoed_call(provider: Scene, implementation: Implementation) -> None:
    """Id, type, name and arguments, the arguments as the model wrote them to the letter."""
    written = '{ "text":  "caf\\u00e9" }'
    provider.plays(calls(Call("note", written)), says("Noted."))

    run = implementation.run()

    run.delivered(1)
    echoed = [one.get("tool_calls") for one in run.request(2).body["messages"] if one["role"] == "assistant"]
    assert [[{"id": "call_1a", "type": "function", "function": {"name": "note", "arguments": written}}]] == echoed


@requirement("spec-calls-come-before-their-results")
def test_order_of_messages(provider: Scene, implementation: Implementation) -> None:
    """In the history the calls of a turn stand before all its results."""
    provider.plays(calls(Call.of("ping"), Call.of("note", {"text": "x"})), says("Done."))

    run = implementation.run()

    run.delivered(1)
    rounds = [type(item) for item in run.request(2).request.items if isinstance(item, Asked | Answered)]
    assert [Asked, Asked, Answered, Answered] == rounds


@requirement("spec-tools-run-one-after-the-other")
def test_one_after_the_other(provider: Scene, implementation: Implementation) -> None:
    """While the first tool is held, the second does not start; then they run in order."""
    second = gates.tool_begins_too_early("weather")
    provider.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Paris"})), says("Done."))
    provider.does("ping", Returns("pong", hold=second))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])
    assert ["ping", "weather"] == [tool for tool, _ in run.tools_ran]
    assert [second.name] == run.gave_up, "the second tool started while the first was running"


@requirement("spec-handler-gets-the-parsed-arguments")
def test_parsed_arguments(provider: Scene, implementation: Implementation) -> None:
    """Numbers arrive as numbers, text as text."""
    provider.plays(calls(Call.of("add", {"a": 1, "b": 2.5})), says("3.5"))

    run = implementation.run()

    tools_ran(run, [{"add": {"a": 1, "b": 2.5}}])


@requirement("spec-bad-arguments-raise")
@on("openai-chat", "openai-responses", "anthropic-messages/stream/*")
def test_bad_arguments(provider: Scene, implementation: Implementation) -> None:
    """The caller gets an error, and the model is not asked again."""
    provider.plays(calls(Call("weather", '{"city": ')), says("Sorry."))

    run = implementation.run()

    run.delivered(1)
    assert run.failed, f"the loop {run.outcome}"
    assert 1 == len(run.requests)


def _without_handler(provider: Scene, implementation: Implementation) -> Run:
    tools = [replace(tool, handled=tool.name != "weather") for tool in agent("assistant").tools]
    provider.plays(calls(Call.of("weather", {"city": "Paris"})), says("Sorry."))
    run = implementation.run(tools=tools)
    run.delivered(1)
    return run


@requirement("spec-missing-handler-raises")
def test_missing_handler(provider: Scene, implementation: Implementation) -> None:
    """A tool that the agent declares and nobody handles ends the loop with a ValueError."""
    run = _without_handler(provider, implementation)

    error(run, {"type": "ValueError"})


@requirement("spec-missing-handler-error-has-the-documents-text")
def test_missing_handler_text(provider: Scene, implementation: Implementation) -> None:
    """The message names the tool and its kind."""
    run = _without_handler(provider, implementation)

    error(run, {"message": r"No handler registered for tool: weather \(kind: function\)"})


@requirement("spec-raising-handler-ends-the-loop")
def test_raising_handler(provider: Scene, implementation: Implementation) -> None:
    """The handler's own error, type and message, reaches the caller."""
    provider.plays(calls(Call.of("weather", {"city": "Atlantis"})), says("Sorry."))
    provider.raises("weather", "there is no such city", "LookupError")

    run = implementation.run()

    run.delivered(1)
    assert isinstance(run.outcome, Failed), f"the loop {run.outcome}"
    assert ("LookupError", True) == (run.outcome.type, "there is no such city" in run.outcome.message)
    assert 1 == len(run.requests)


@requirement("spec-result-is-the-values-text")
@pytest.mark.parametrize("value", ["18 °C", 42])
def test_result_text(provider: Scene, implementation: Implementation, value: object) -> None:
    """A text is sent as it is, a number as its digits."""
    provider.plays(calls(Call.of("ping")), says("Done."))
    provider.returns("ping", value)

    run = implementation.run()

    assert [str(value)] == [answer.text for answer in run.new_answers(1)]


@requirement("spec-one-tool-message-for-each-call")
def test_tool_messages(provider: Scene, implementation: Implementation) -> None:
    """Three calls, three results, in call order."""
    provider.plays(calls(*(Call.of("note", {"text": str(n)}) for n in range(3))), says("Done."))

    run = implementation.run()

    run.delivered(1)
    assert 3 == len(run.new_answers(1))
    answers_in_order(run, 1)


@requirement("spec-answer-is-returned")
def test_answer(provider: Scene, implementation: Implementation) -> None:
    """The text of the last reply is the loop's value, and nothing is asked after it."""
    provider.plays(_asks(1), says("That is all."))

    run = implementation.run()

    run.delivered(2)
    assert "That is all." == run.value.text
    assert 2 == len(run.requests)


@requirement("spec-failed-model-call-ends-the-loop")
def test_failed_model_call(provider: Scene, implementation: Implementation) -> None:
    """A model call that fails for good after a tool round ends the loop with an error."""
    failing = HttpError(400, message="This model does not exist.")
    provider.plays(_asks(1), *[failing] * 4)

    run = implementation.run()

    run.replied(2)
    assert run.failed, f"the loop {run.outcome}"


@requirement("spec-text-is-forwarded")
def test_text_is_forwarded(provider: Scene, implementation: Implementation) -> None:
    """The rest of the answer is written once the caller has its beginning."""
    caller = gates.caller_has("A long")
    provider.plays(_asks(1), Step(says("A long story."), SLOW, holds=(Hold(caller, after="A long"),)))

    run = implementation.run()

    run.delivered(2)
    assert [] == run.gave_up, "the caller received nothing while the answer was being written"


WRITTEN = '{"text": "a longer text"}'


@requirement("spec-arguments-are-whole-before-tools-run")
def test_whole_arguments(provider: Scene, implementation: Implementation) -> None:
    """The stream stops for a while before the last character of the arguments; the tool runs, and not before that."""
    early = gates.tool_begins_too_early("note")
    hold = Hold(early, after=_events_before_the_last_piece(implementation))
    provider.plays(Step(calls(Call("note", WRITTEN)), SLOW, holds=(hold,)), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": "a longer text"}}])
    assert [early.name] == run.gave_up, "the tool started before its arguments were whole"


def _events_before_the_last_piece(implementation: Implementation) -> int:
    """How many events of the stream come before that with the last character of the arguments."""
    wire = WIRES[implementation.cell.wire]
    turns = (calls(Call("note", text)) for text in (WRITTEN, f"{WRITTEN[:-1]} }}"))
    pairs = zip(*(wire.events(one.numbered(1), 1, SLOW) for one in turns), strict=False)
    return next(place for place, (one, other) in enumerate(pairs) if one != other)


@requirement("spec-tool-turn-is-read-to-its-end")
def test_all_calls_of_a_stream(provider: Scene, implementation: Implementation) -> None:
    """The last of five calls, in the last delta of a long stream, runs like the first."""
    wanted = [Call.of("note", {"text": f"number {n}"}) for n in range(5)]
    provider.plays(Step(calls(*wanted), SLOW), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"note": {"text": f"number {n}"}} for n in range(5)])
    calls_echoed(run, 1)


@requirement("spec-no-text-of-a-tool-turn")
def test_no_text_of_a_tool_turn(provider: Scene, implementation: Implementation) -> None:
    """Text that comes after the first delta has shown tool calls stays inside; what comes before is recorded."""
    provider.plays(calls(Call.of("ping"), text="Secret thoughts."), says("Done."))
    early = implementation.run()
    late = NATURAL.but(calls_first=True) if implementation.cell.wire == "openai-chat" else NATURAL
    provider.plays(Step(turn(Call.of("ping"), "Secret thoughts."), late), says("Done."))

    run = implementation.run()

    run.delivered(2)
    assert "Secret" not in "".join(chunk.text for chunk in run.chunks)
    forwarded = "Secret" in "".join(chunk.text for chunk in early.chunks)
    implementation.diverges("text before calls in a stream", "forwarded" if forwarded else "held back")
