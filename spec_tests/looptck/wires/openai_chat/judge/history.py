"""The rules on the order of the messages.

An assistant message with calls is followed directly by its results: tool messages, one for each call, in any order, and
no other message among them. A call's id is valid only within its turn. If the model gave two calls the same id, that id
may be answered twice.

This runs on every request, so it is one pass over the messages; expensive steps run only once a fault is found.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem

RULES = {
    "every-call-is-answered": "Every tool call of an assistant message is answered by a tool message right after it.",
    "results-follow-their-calls": "No other message comes between an assistant message with calls and their results.",
    "results-answer-a-call": "A tool message is one of the results that follow an assistant message with calls.",
    "results-name-a-known-call": "A tool message names the id of a call of the assistant message that it follows.",
    "one-result-per-call": "A tool call is answered once.",
    "results-carry-a-call-id": "A tool message has a tool_call_id.",
    "function-results-carry-a-name": "A function message has a name.",
    "content-is-present": "A message has content, except an assistant message with calls, a refusal or audio.",
}

_Message = dict[str, Any]


def problems(body: dict[str, Any]) -> list[Problem]:
    """The problems in the order of the messages, then the messages without content."""
    messages = body["messages"]
    found: list[Problem] = []
    blank: list[Problem] = []
    late: set[int] = set()
    asker = -1  # the place of the assistant message whose run of results this is, or -1
    waiting: list[str] = []  # the ids of its calls that have no result yet
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            name = message.get("tool_call_id")
            if name in waiting:
                waiting.remove(name)
            elif place not in late:
                found.append(_misplaced(messages, asker, place))
        else:
            if waiting:
                found.append(_unanswered(messages, asker, waiting, place, late))
                waiting = []
            asker = -1
            if role == "assistant" and (calls := message.get("tool_calls")):
                asker = place
                waiting = [call["id"] for call in calls]
            elif role == "function" and not message.get("name"):
                found.append(_nameless(place))
        if message.get("content") is None and _needs_content(message):
            blank.append(_contentless(place, message))
    if waiting:
        found.append(_unanswered(messages, asker, waiting, len(messages), late))
    return found + blank


def _misplaced(messages: list[_Message], asker: int, place: int) -> Problem:
    """The problem of a tool message that answers no open call."""
    name = messages[place].get("tool_call_id")
    pointer = f"/messages/{place}/tool_call_id"
    if asker < 0:
        return Problem(
            "results-answer-a-call",
            f"/messages/{place}/role",
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
        )
    if name is None:
        return Problem(
            "results-carry-a-call-id",
            pointer,
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        )
    for earlier in range(place - 1, asker, -1):
        if messages[earlier].get("tool_call_id") == name and _is_call_of(messages[asker], name):
            return Problem(
                "one-result-per-call",
                pointer,
                f"Invalid parameter: Duplicate value for 'tool_call_id' of '{name}', in messages[{earlier}] and "
                f"messages[{place}].",
            )
    return Problem(
        "results-name-a-known-call",
        pointer,
        f"Invalid parameter: 'tool_call_id' of '{name}' not found in 'tool_calls' of previous message.",
    )


def _is_call_of(message: _Message, name: str) -> bool:
    return any(call["id"] == name for call in message["tool_calls"])


def _unanswered(messages: list[_Message], asker: int, waiting: list[str], end: int, late: set[int]) -> Problem:
    """The problem of missing results: there are none, or they come after another message.

    The places of late results are added to ``late``, so that one fault is reported once.
    """
    late_ones = _late_results(messages, waiting, end)
    late |= late_ones
    message = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    )
    if late_ones:
        return Problem("results-follow-their-calls", f"/messages/{end}", message)
    return Problem("every-call-is-answered", f"/messages/{asker}/tool_calls", message)


def _late_results(messages: list[_Message], waiting: list[str], end: int) -> set[int]:
    """The places of the expected results that come too late, up to a turn that uses one of the ids again."""
    missing = list(waiting)
    places = set()
    for place in range(end, len(messages)):
        message = messages[place]
        if any(call["id"] in waiting for call in message.get("tool_calls") or ()):
            break
        if message["role"] == "tool" and message.get("tool_call_id") in missing:
            missing.remove(message["tool_call_id"])
            places.add(place)
    return places


def _needs_content(message: _Message) -> bool:
    role = message["role"]
    if role == "assistant":
        stand_in = message.get("tool_calls") or message.get("function_call") or message.get("refusal")
        return not (stand_in or message.get("audio"))
    return role != "function" or "content" not in message


def _contentless(place: int, message: _Message) -> Problem:
    return Problem(
        "content-is-present",
        f"/messages/{place}/content",
        "Invalid value for 'content': expected a string, got null.",
        hint="" if "content" in message else "the content is missing",
    )


def _nameless(place: int) -> Problem:
    return Problem(
        "function-results-carry-a-name",
        f"/messages/{place}/name",
        "Missing parameter 'name': messages with role 'function' must have a 'name'.",
    )
