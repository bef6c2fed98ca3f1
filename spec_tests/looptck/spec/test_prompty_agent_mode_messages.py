"""Profile ``prompty-agent-mode``: what is appended to the conversation, and sent with each request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, requirement
from looptck.expectations import answers, answers_in_order, turn_echoed
from looptck.history import Answered, Asked
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, Turn, calls, says

TWO = calls(Call.of("ping"), Call.of("weather", {"city": "Paris"}))


def _asks(n: int) -> Turn:
    return calls(Call.of("note", {"text": f"round {n}"}))


def _conversation(provider: Scene) -> None:
    """Text beside parallel calls, then another round, then the answer."""
    beside = calls(*TWO.calls, text="One moment.")
    provider.plays(beside, calls(Call.of("add", {"a": 1, "b": 2.5})), says("3.5"))


@requirement("mode-plain-and-stream-ask-the-same")
def test_plain_and_stream(provider: Scene, implementation: Implementation) -> None:
    """A conversation, played plain and streamed, leads to the same tool runs, requests and answer."""
    _conversation(provider)
    plain = implementation.run(cell=replace(implementation.cell, stream=False))
    streamed = implementation.run()

    for run in (plain, streamed):
        run.request(3)
    assert plain.rounds == streamed.rounds
    assert [plain.retold(n) for n in (1, 2, 3)] == [streamed.retold(n) for n in (1, 2, 3)]
    assert plain.value.text == streamed.value.text
    if implementation.started.can("chunks"):
        shown = "forwarded" if "One moment." in "".join(chunk.text for chunk in streamed.chunks) else "held back"
        implementation.diverges("text before calls in a stream", shown)


@requirement("mode-each-request-carries-all-messages")
def test_all_messages(provider: Scene, implementation: Implementation) -> None:
    """Each request begins with the history of the one before, and adds a call and its result."""
    provider.plays(_asks(1), _asks(2), _asks(3), says("Done."))

    run = implementation.run()

    run.request(4)
    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = earlier.request.items
        assert before == later.request.items[: len(before)]
        assert [Asked, Answered] == [type(item) for item in later.request.items[len(before) :]]


@requirement("mode-tools-are-offered-every-time")
def test_tools_are_offered(provider: Scene, implementation: Implementation) -> None:
    """Each of three requests offers every tool, with its description and the names of its parameters."""
    provider.plays(_asks(1), _asks(2), says("Done."))

    run = implementation.run()

    run.delivered(1)
    run.request(2)
    wanted = {tool.name: (tool.description, set(tool.parameters["properties"])) for tool in agent("assistant").tools}
    for received in run.requests:
        offered = {tool.name: (tool.description, _names(tool.parameters)) for tool in received.request.tools}
        assert wanted == offered, f"request {received.n}"


def _names(parameters: object) -> set[str]:
    """The names of the parameters in a schema."""
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return set(properties or {})


@requirement("mode-echoed-call-is-the-models-own")
def test_echoed_call(provider: Scene, implementation: Implementation) -> None:
    """Id, function name and arguments stand in the assistant message as the model wrote them, to the letter."""
    written = '{ "text":  "caf\\u00e9" }'
    provider.plays(calls(Call("note", written), Call.of("ping")), says("Noted."))

    run = implementation.run()

    run.delivered(1)
    messages = run.request(2).body["messages"]
    tool_calls = [one for message in messages for one in message.get("tool_calls") or ()]
    echoed = [(one.get("id"), *map(one.get("function", {}).get, ("name", "arguments"))) for one in tool_calls]
    assert [("call_1a", "note", written), ("call_1b", "ping", "{}")] == echoed


@requirement("mode-turn-is-appended-as-it-came")
def test_turn_is_appended(provider: Scene, implementation: Implementation) -> None:
    """The next request adds the turn, its text and its calls, and behind it the results."""
    provider.plays(calls(*TWO.calls, text="One moment."), says("Done."))

    run = implementation.run()

    turn_echoed(run, 1)
    behind = run.added(1)[len(run.echo(1)) :]
    assert [Answered, Answered] == [type(item) for item in behind]


def _three(provider: Scene, implementation: Implementation) -> Run:
    provider.plays(calls(*(Call.of("note", {"text": str(n)}) for n in range(3))), says("Done."))
    run = implementation.run()
    run.delivered(1)
    run.request(2)
    return run


@requirement("mode-one-result-for-each-call")
def test_one_result_each(provider: Scene, implementation: Implementation) -> None:
    """Three calls, three results, each under the id of its call, in call order."""
    run = _three(provider, implementation)

    assert ["call_1a", "call_1b", "call_1c"] == [answer.id for answer in run.new_answers(1)]
    answers(run, 1)
    answers_in_order(run, 1)


@requirement("mode-tool-message-format")
def test_tool_messages(provider: Scene, implementation: Implementation) -> None:
    """Behind the assistant message stand three tool messages, each with an id and a text."""
    provider.returns("note", "Kept.")
    run = _three(provider, implementation)

    told = run.request(2).body["messages"][-4:]
    assert ["assistant", "tool", "tool", "tool"] == [message.get("role") for message in told]
    assert ["call_1a", "call_1b", "call_1c"] == [message.get("tool_call_id") for message in told[1:]]
    assert ["Kept.", "Kept.", "Kept."] == [message.get("content") for message in told[1:]]


@requirement("mode-result-is-the-tools-text")
@pytest.mark.parametrize(
    "value",
    ["72°F and sunny", '{"temperature": 72, "sky": "clear"}', "city: Paris\nsky: clear", 42],
    ids=["text", "json-text", "lines", "number"],
)
def test_result_text(provider: Scene, implementation: Implementation, value: object) -> None:
    """A text is sent as it is, a number as its digits."""
    provider.plays(calls(Call.of("ping")), says("Done."))
    provider.returns("ping", value)

    run = implementation.run()

    assert [str(value)] == [answer.text for answer in run.answers(1)]
