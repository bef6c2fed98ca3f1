"""OpenAI Responses: requests, echoes, results and plain replies."""

from __future__ import annotations

from typing import Any

import pytest

from looptck_reference import (
    OPENAI_RESPONSES,
    MalformedReply,
    Stop,
)
from meta.reference.reference_responses import (
    function_call,
    refusal,
    response,
    text,
)


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
