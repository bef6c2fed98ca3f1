"""Chat Completions: requests and plain replies."""

from __future__ import annotations

import json

import pytest

from looptck_reference import OPENAI_CHAT, Agent, MalformedReply, ProviderError, Stop, Tool, ToolCall, Turn
from meta.reference.reference_replies import QUESTION, call, plain

PARIS = ToolCall("call_1", "weather", '{"city":"Paris"}')


def test_no_tools_no_key() -> None:
    """An agent without tools sends no empty list of them."""
    request = OPENAI_CHAT.request(Agent("m", [QUESTION]), [QUESTION], stream=False)

    assert {"model": "m", "messages": [QUESTION]} == request


def test_a_stream_is_asked_for_with_its_usage() -> None:
    """A streaming request asks for the usage event."""
    request = OPENAI_CHAT.request(Agent("m", []), [], stream=True)

    assert (True, {"include_usage": True}) == (request["stream"], request["stream_options"])


def test_tools_are_offered_as_functions() -> None:
    """Name, description and schema of each tool."""
    request = OPENAI_CHAT.request(Agent("m", [], [Tool("ping", "Pings.", {"type": "object"})]), [], stream=False)

    function = {"name": "ping", "description": "Pings.", "parameters": {"type": "object", "properties": {}}}
    assert [{"type": "function", "function": function}] == request["tools"]


def test_calls_are_read() -> None:
    """A turn with text and calls has both."""
    turn = OPENAI_CHAT.decode(plain("I look.", call()))

    assert Turn("I look.", (PARIS,), Stop.CALLS) == turn


@pytest.mark.parametrize("calls", [[], None])
@pytest.mark.parametrize("content", ["", None])
def test_an_empty_answer_is_an_answer(content: str | None, calls: list[object] | None) -> None:
    """No text and an empty or null list of calls is an empty answer."""
    assert Turn() == OPENAI_CHAT.decode(plain(content, tool_calls=calls))


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", Stop.END),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.CONTENT_FILTER),
        ("tool_calls", Stop.CALLS),
        ("function_call", Stop.CALLS),
        ("never_heard_of", Stop.END),
    ],
)
def test_finish_reasons(finish: str, stop: Stop) -> None:
    """All five are known, and an unknown one is the end."""
    assert stop is OPENAI_CHAT.decode(plain("x", finish=finish)).stop


def test_a_refusal_is_not_an_empty_answer() -> None:
    """A refusal is the text, and the stop says so."""
    assert Turn("I will not.", (), Stop.REFUSAL) == OPENAI_CHAT.decode(plain(None, refusal="I will not."))


def test_arguments_may_be_an_object() -> None:
    """Arguments that are not text stand for their JSON."""
    turn = OPENAI_CHAT.decode(plain(None, call(arguments={"city": "Paris"})))

    assert {"city": "Paris"} == json.loads(turn.calls[0].arguments)


def test_missing_arguments_are_empty() -> None:
    """Arguments that are null or absent are no arguments."""
    assert "" == OPENAI_CHAT.decode(plain(None, call(arguments=None))).calls[0].arguments


def test_only_the_choice_with_index_0_counts() -> None:
    """Other choices of the reply are not mixed in."""
    reply = plain("mine")
    reply["choices"].insert(0, {**plain("other")["choices"][0], "index": 1})

    assert "mine" == OPENAI_CHAT.decode(reply).text


def test_an_error_may_come_with_status_200() -> None:
    """An error object is an error whatever the status was, in the provider's words."""
    with pytest.raises(ProviderError, match="overloaded"):
        OPENAI_CHAT.decode({"error": {"message": "overloaded"}})


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": []},
        {"choices": [{"index": 0}]},
        plain(None, call(call_id="")),
        plain(None, call(name="")),
        plain(None, {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}),
        plain(None, "call"),  # type: ignore[arg-type]
        plain(None, function_call={"name": "old", "arguments": "{}"}),
        plain([{"type": "text", "text": "x"}]),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_what_cannot_be_understood_is_not_ignored(reply: dict[str, object]) -> None:
    """A reply without a message, or with calls that could not be answered, fails loudly."""
    with pytest.raises(MalformedReply):
        OPENAI_CHAT.decode(reply)


def test_a_deprecated_call_with_nothing_in_it_is_none() -> None:
    """Servers that send each member that there is send an empty function_call beside an answer: the answer counts."""
    reply = plain("18 °C", function_call={"name": "", "arguments": ""}, refusal="")

    assert Turn("18 °C") == OPENAI_CHAT.decode(reply)


def test_the_stub_of_a_cut_call_is_no_malformed_reply() -> None:
    """A call that was cut before its name is still reported as cut, not as malformed."""
    assert Stop.LENGTH is OPENAI_CHAT.decode(plain(None, call(name=""), finish="length")).stop
