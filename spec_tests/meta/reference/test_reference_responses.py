"""OpenAI Responses: requests, echoes, results and plain replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck_reference import (
    OPENAI_RESPONSES,
    Agent,
    MalformedReply,
    ProviderError,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
)
from meta.reference.reference_replies import QUESTION, Json
from meta.reference.reference_responses import (
    HOLOGRAM,
    MCP,
    REASONING,
    SEARCH,
    function_call,
    refusal,
    response,
    text,
)

ALL: list[Json] = [
    REASONING,
    SEARCH,
    MCP,
    HOLOGRAM,
    text("I look.", phase="commentary"),
    {**function_call(namespace="n", caller={"type": "direct"}), "async": False},
    text("!", "msg_2"),
]


def test_a_request_depends_on_nothing_before_it() -> None:
    """Nothing is stored, so reasoning has to come along encrypted."""
    request = OPENAI_RESPONSES.request(Agent("m", [QUESTION]), [QUESTION], stream=False)

    assert {"model": "m", "input": [QUESTION], "store": False, "include": ["reasoning.encrypted_content"]} == request
    assert {**request, "stream": True} == OPENAI_RESPONSES.request(Agent("m", [QUESTION]), [QUESTION], stream=True)


def test_tools_are_offered_flat_and_not_strict() -> None:
    """Schemas are sent as they are."""
    request = OPENAI_RESPONSES.request(Agent("m", [], [Tool("ping", "Pings.", {"type": "object"})]), [], stream=False)

    offered = {
        "type": "function",
        "name": "ping",
        "description": "Pings.",
        "parameters": {"type": "object", "properties": {}},
    }
    assert [{**offered, "strict": False}] == request["tools"]


def test_calls_are_read() -> None:
    """By the call's id, not the item's, also where text follows it; the server's own calls are none of ours."""
    turn = OPENAI_RESPONSES.decode(response(*ALL))

    assert ("I look.!", Stop.CALLS) == (turn.text, turn.stop)
    assert (ToolCall("call_1", "weather", '{"city":"Paris"}'),) == turn.calls


def test_every_item_goes_back_as_it_came() -> None:
    """In order, with encrypted reasoning, and also those that nobody here knows."""
    turn = OPENAI_RESPONSES.decode(json.loads(json.dumps(response(*ALL))))

    assert ALL == OPENAI_RESPONSES.echo(turn)


def test_results_are_one_item_each() -> None:
    """A failure is told by its text."""
    results = [ToolResult("a", "x", "sunny"), ToolResult("b", "x", "Error", failed=True)]

    assert [
        {"type": "function_call_output", "call_id": "a", "output": "sunny"},
        {"type": "function_call_output", "call_id": "b", "output": "Error"},
    ] == OPENAI_RESPONSES.results(results)


@pytest.mark.parametrize(
    ("status", "reason", "items", "stop"),
    [
        ("completed", None, [function_call()], Stop.CALLS),
        ("completed", None, [text("x")], Stop.END),
        ("completed", None, [], Stop.END),
        (None, None, [function_call()], Stop.CALLS),
        ("incomplete", "max_output_tokens", [function_call()], Stop.LENGTH),
        ("incomplete", "max_messages", [function_call()], Stop.LENGTH),
        ("incomplete", "steered", [function_call()], Stop.LENGTH),
        ("incomplete", "never_heard_of", [function_call()], Stop.LENGTH),
        ("incomplete", None, [text("x")], Stop.LENGTH),
        ("incomplete", "content_filter", [function_call()], Stop.CONTENT_FILTER),
        ("completed", None, [function_call(), function_call("b", status="incomplete")], Stop.LENGTH),
        ("completed", None, [function_call(status="in_progress")], Stop.CALLS),
        ("completed", None, [refusal("no"), function_call()], Stop.REFUSAL),
        ("incomplete", "content_filter", [refusal("no")], Stop.REFUSAL),
    ],
)
def test_statuses(status: str | None, reason: str | None, items: list[Any], stop: Stop) -> None:
    """The status decides, a call may say of itself that it is half of one, and a refusal is a refusal."""
    assert stop is OPENAI_RESPONSES.decode(response(*items, status=status, reason=reason)).stop


def test_a_status_may_be_missing() -> None:
    """What a compatible server sends without one is all there is."""
    reply = response(function_call())
    del reply["status"]

    assert Stop.CALLS is OPENAI_RESPONSES.decode(reply).stop


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress", "never_heard_of"])
def test_a_response_that_is_not_at_its_end(status: str) -> None:
    """Nothing of it may be used."""
    with pytest.raises(ProviderError, match=status):
        OPENAI_RESPONSES.decode(response(function_call(), status=status))


@pytest.mark.parametrize("status", ["failed", None])
def test_a_failure_is_told_in_the_providers_words(status: str | None) -> None:
    """Whatever the status is."""
    with pytest.raises(ProviderError, match="no quota"):
        OPENAI_RESPONSES.decode(response(status=status, error={"code": "server_error", "message": "no quota"}))


def test_a_refusal_is_not_an_empty_answer() -> None:
    """A refusal is the text, and the stop says so."""
    turn = OPENAI_RESPONSES.decode(response(text("Well. "), refusal("I will not.")))

    assert ("I will not.", Stop.REFUSAL) == (turn.text, turn.stop)


@pytest.mark.parametrize(("given", "arguments"), [("", ""), (None, ""), ({"n": 1}, '{"n": 1}')])
def test_arguments_may_be_missing_or_an_object(given: object, arguments: str) -> None:
    """Nothing is no arguments, and what is not text stands for its JSON."""
    assert arguments == OPENAI_RESPONSES.decode(response(function_call(arguments=given))).calls[0].arguments


@pytest.mark.parametrize(
    "reply",
    [
        {},
        response(output={}),
        response(output=["x"]),
        response(function_call(call_id="")),
        response(function_call(name="")),
        response(text(["x"])),  # type: ignore[arg-type]
        response(text("x", content="x")),
        response({"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"}),
        response({"type": "computer_call", "call_id": "c", "action": {}}),
        response({"type": "local_shell_call", "call_id": "c", "action": {}}),
        response({"type": "apply_patch_call", "call_id": "c", "operation": {}}),
    ],
    ids=repr,
)
def test_what_cannot_be_understood_is_not_ignored(reply: dict[str, Any]) -> None:
    """A reply without items, or with calls that could not be run or answered, fails loudly."""
    with pytest.raises(MalformedReply):
        OPENAI_RESPONSES.decode(reply)


def test_the_stub_of_a_cut_call_is_no_malformed_reply() -> None:
    """A call that was cut before its name is still reported as cut, not as malformed."""
    reply = response(function_call(name=""), status="incomplete", reason="max_output_tokens")

    assert Stop.LENGTH is OPENAI_RESPONSES.decode(reply).stop
