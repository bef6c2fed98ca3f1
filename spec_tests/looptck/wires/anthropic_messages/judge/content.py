"""The rules on empty messages and on the places of system messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looptck.values.problem import Problem

RULES = {
    "content-is-present": "A message has content, except an assistant message at the end.",
    "texts-say-something": "The text of a message, and each block of the instructions, is not only white space.",
    "prefill-ends-in-no-blank": "An assistant message at the end, which the model continues, ends without white space.",
    "system-messages-are-in-place": (
        "A system message in the history follows a user turn or a result of a hosted tool, and the model's turn or "
        "nothing follows it."
    ),
}

_ANYWHERE = "the directive-only form (content: [] with output_config) is accepted at any position"

_SILENT = "text content blocks must contain non-whitespace text"

_Message = dict[str, Any]


def problems(body: dict[str, Any]) -> list[Problem]:
    """The problems of the messages one by one, in order."""
    messages = body["messages"]
    found = list(_blank_instructions(body.get("system")))
    last = len(messages) - 1
    for place, message in enumerate(messages):
        content = message["content"]
        if message["role"] == "system" and (problem := _system(messages, place)):
            found.append(problem)
        if not content:
            if not message.get("output_config") and (place != last or message["role"] != "assistant"):
                found.append(_empty(place))
        elif (content if isinstance(content, str) else content[0].get("text", "")).isspace() and _blank(content):
            found.append(Problem("texts-say-something", f"/messages/{place}/content", f"messages: {_SILENT}"))
    if messages and messages[last]["role"] == "assistant" and _text(messages[last]["content"])[-1:].isspace():
        words = "messages: final assistant content cannot end with trailing whitespace"
        found.append(Problem("prefill-ends-in-no-blank", f"/messages/{last}/content", words))
    return found


def _blank_instructions(system: object) -> Iterator[Problem]:
    """The problems of blank blocks among the instructions, where others beside them do not help."""
    for place, block in enumerate(system if isinstance(system, list) else ()):
        if block["text"].isspace():
            yield Problem("texts-say-something", f"/system/{place}/text", f"system: {_SILENT}")


def _empty(place: int) -> Problem:
    words = (
        f"messages.{place}: all messages must have non-empty content except for the optional final assistant message"
    )
    return Problem("content-is-present", f"/messages/{place}/content", words)


def _blank(content: str | list[dict[str, Any]]) -> bool:
    """Whether a content that begins with white space is only white space: among other blocks it is accepted."""
    return isinstance(content, str) or all(block["type"] == "text" and block["text"].isspace() for block in content)


def _text(content: str | list[dict[str, Any]]) -> str:
    """The text that a message ends with."""
    if isinstance(content, str):
        return content
    return str(content[-1]["text"]) if content and content[-1]["type"] == "text" else ""


def _system(messages: list[_Message], place: int) -> Problem | None:
    """The problem of a system message's place. Consecutive system messages count as one."""
    if not messages[place]["content"]:
        return None
    before = [message for message in messages[:place] if message["role"] != "system"]
    after = [message for message in messages[place:] if message["role"] != "system"]
    if not before or not (before[-1]["role"] == "user" or _ends_hosted(before[-1]["content"])):
        wanted = "must follow a 'user' message or an 'assistant' message ending in a server tool result"
    elif after and after[0]["role"] == "user":
        wanted = "must precede an 'assistant' message or end the array"
    else:
        return None
    words = f"messages.{place}: role 'system' {wanted}; {_ANYWHERE}"
    return Problem("system-messages-are-in-place", f"/messages/{place}/role", words)


def _ends_hosted(content: str | list[dict[str, Any]]) -> bool:
    return isinstance(content, list) and bool(content) and content[-1]["type"].endswith("_tool_result")
