"""Arguments that are null, and lists without parts: what each service takes of them, and what it says to the rest."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.wires.anthropic_messages.judge import judge as judge_messages
from looptck.wires.openai_chat.judge import judge as judge_chat
from looptck.wires.openai_chat.judge import refusal
from looptck.wires.openai_responses.judge import judge as judge_responses
from meta.judge.chat import bodies as chat
from meta.judge.messages import bodies as messages
from meta.judge.responses import bodies as responses

NULL = "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got null instead."
NONE = "Missing required parameter: 'messages[1].tool_calls[0].function.arguments'."
EMPTY: dict[str, Any] = {"content": []}


def _called(**function: object) -> dict[str, Any]:
    """A Chat request with a call of this function, and its result."""
    asked = {"id": "a", "type": "function", "function": {"name": "f", **function}}
    result = {"role": "tool", "tool_call_id": "a", "content": "done"}
    return chat.request(chat.USER, {"role": "assistant", "content": None, "tool_calls": [asked]}, result)


@pytest.mark.parametrize(
    ("function", "message", "code"),
    [({"arguments": None}, NULL, "invalid_type"), ({}, NONE, "missing_required_parameter")],
)
def test_arguments_are_text_on_chat(function: dict[str, Any], message: str, code: str) -> None:
    """Arguments that some server left null, echoed as they came, are refused by name; so are missing ones."""
    (problem,) = judge_chat(_called(**function))

    assert "arguments-are-text" == problem.rule
    assert {
        "message": message,
        "type": "invalid_request_error",
        "param": "messages[1].tool_calls[0].function.arguments",
        "code": code,
    } == refusal(problem)["error"]


def test_arguments_are_text_on_responses() -> None:
    """The same of an item."""
    (problem,) = judge_responses(responses.request(responses.call(arguments=None), responses.output()))

    assert ("arguments-are-text", "/input/0/arguments") == (problem.rule, problem.pointer)
    assert "Invalid type for 'input[0].arguments': expected a string, but got null instead." == problem.message


def test_chat_takes_lists_without_parts() -> None:
    """By the reference a list of parts has at least one, but the service was seen to take none (openai-python#1812)."""
    body = _called(arguments="{}")
    asked, result = body["messages"][1:]

    for role in ("system", "user", "assistant"):
        assert [] == judge_chat(chat.request({"role": role, **EMPTY}, chat.USER))
    assert [] == judge_chat(chat.request(chat.USER, {**asked, **EMPTY}, {**result, **EMPTY}))


def test_no_tools_may_be_an_empty_list() -> None:
    """Anthropic and Responses were recorded to take it; on Chat reports contradict each other.

    OpenAI refuses it by anon-kode#20 (2025) and vllm#39741 (2026), and takes it by mlx-lm#170 (2025), pi#3650 (2026).
    So a loop is told by `no-tools-are-no-list`, and is not refused.
    """
    assert [] == judge_chat(chat.request(chat.USER, tools=[]))
    assert [] == judge_responses(responses.request(responses.USER, tools=[]))
    assert [] == judge_messages(messages.request(messages.USER, tools=[]))


def test_responses_takes_lists_without_parts() -> None:
    """No document sets a least number of parts, and nobody was seen refused for it."""
    assert [] == judge_responses(responses.request({**responses.USER, **EMPTY}, responses.says(content=[])))
    assert [] == judge_responses(responses.request(responses.call(), responses.output(output=[])))


def test_messages_takes_results_without_blocks() -> None:
    """A result may be empty, unless it is marked as failed; a message may not, but for the model's at the end."""
    asked = messages.assistant(messages.call())

    def rules(*given: Any) -> list[str]:
        return [problem.rule for problem in judge_messages(messages.request(messages.USER, *given))]

    assert [] == rules(asked, messages.user(messages.result(content=[])))
    assert ["failed-results-have-content"] == rules(asked, messages.user(messages.result(content=[], is_error=True)))
    assert ["content-is-present"] == rules({"role": "assistant", **EMPTY}, messages.USER)
    assert ["content-is-present"] == rules(messages.assistant("x"), {"role": "user", **EMPTY})
    assert [] == rules({"role": "assistant", **EMPTY})
