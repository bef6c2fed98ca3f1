"""The rules on calls and their results.

The service treats consecutive messages of one role as one turn. A turn of the model that calls tools is
answered by the user turn after it: one result for each call, in any order, before anything else. A call's id is valid
only within its turn. Calls of hosted tools (``server_tool_use``, ``mcp_tool_use``) need no result.

This runs on every request, so it is one pass over the blocks; expensive steps run only once a fault is found.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem

RULES = {
    "every-call-is-answered": "Every tool_use block of a turn has a tool_result block in the user turn right after it.",
    "results-come-first": "In the user turn that answers calls the results come first.",
    "results-answer-a-call": "A tool_result block names the id of a call of the turn right before it.",
    "one-result-per-call": "A tool call is answered once.",
    "failed-results-have-content": "A tool_result block with is_error has content.",
    "call-ids-are-unique": "No two calls of a turn have the same id, unless the service itself has sent them so.",
    "blocks-fit-their-role": "Calls and thinking are in assistant messages only, and results in user messages only.",
}

_HOMES = {
    "tool_use": "assistant",
    "tool_result": "user",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "server_tool_use": "assistant",
    "mcp_tool_use": "assistant",
}
"""The role that a block of this kind belongs to; blocks of other kinds may have any role."""

_TEXT = ({"type": "text"},)
"""The blocks of a content that is a string."""


def problems(body: dict[str, Any]) -> list[Problem]:
    """The problems of the calls, the results, and the blocks in messages of the wrong role."""
    messages = body["messages"]
    calls = _Calls()
    before = ""
    for place, message in enumerate(messages):
        role = message["role"]
        content = message["content"]
        if role == "assistant" != before:
            calls.model_turn()
        elif role == "user" != before:
            calls.first = True
        for number, block in enumerate(content if isinstance(content, list) else _TEXT):
            kind = block["type"]
            if kind in _HOMES and role != _HOMES[kind]:
                calls.found.append(_away(place, number, kind))
            elif kind == "tool_use":
                calls.asked_at(place, number, block["id"])
            elif kind == "tool_result":
                calls.answered_at(place, number, block["tool_use_id"])
                if block.get("is_error") is True and not block.get("content"):
                    calls.found.append(_silent(place, number))
            elif role == "user":
                calls.first = False
        if role != "system":
            before = role
    calls.model_turn()
    return calls.found


class _Calls:
    """The calls of the model's latest turn, during one pass over the history."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.first = True
        """Whether the user turn contains only results so far."""
        self._asker = 0
        self._asked: list[str] = []
        self._waiting: list[str] = []

    def model_turn(self) -> None:
        """A turn of the model begins, or the history ends: the calls of the previous turn get no more results."""
        if self._waiting:
            self.found.append(_unanswered(self._asker, self._waiting))
        self._asked, self._waiting = [], []

    def asked_at(self, place: int, number: int, id: str) -> None:
        """Add a call."""
        if id in self._asked:
            self.found.append(_not_unique(place, number))
        self._asker = place
        self._asked.append(id)
        self._waiting.append(id)

    def answered_at(self, place: int, number: int, id: str) -> None:
        """Add a result."""
        if id not in self._waiting:
            self.found.append(_unexpected(place, number, id, self._asked))
            return
        if not self.first:
            self.found.append(_late(self._asker, place, number, self._waiting))
            self.first = True  # reported once per turn
        self._waiting.remove(id)


def _unanswered(asker: int, waiting: list[str]) -> Problem:
    return Problem("every-call-is-answered", f"/messages/{asker}/content", _without_results(asker, waiting))


def _late(asker: int, place: int, number: int, waiting: list[str]) -> Problem:
    """The service ignores results that follow another block."""
    return Problem("results-come-first", f"/messages/{place}/content/{number}", _without_results(asker, waiting))


def _without_results(asker: int, waiting: list[str]) -> str:
    return (
        f"messages.{asker}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(waiting)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _unexpected(place: int, number: int, id: str, asked: list[str]) -> Problem:
    pointer = f"/messages/{place}/content/{number}/tool_use_id"
    where = f"messages.{place}.content.{number}"
    if id in asked:
        message = f"{where}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
        return Problem("one-result-per-call", pointer, message)
    message = (
        f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a "
        "corresponding `tool_use` block in the previous message."
    )
    return Problem("results-answer-a-call", pointer, message)


def _silent(place: int, number: int) -> Problem:
    message = f"messages.{place}.content.{number}.tool_result: content cannot be empty if `is_error` is true"
    return Problem("failed-results-have-content", f"/messages/{place}/content/{number}/content", message)


def _not_unique(place: int, number: int) -> Problem:
    message = f"messages.{place}.content.{number}: `tool_use` ids must be unique"
    return Problem("call-ids-are-unique", f"/messages/{place}/content/{number}/id", message)


def _away(place: int, number: int, kind: str) -> Problem:
    message = f"messages.{place}.content.{number}: `{kind}` blocks can only be in `{_HOMES[kind]}` messages"
    return Problem("blocks-fit-their-role", f"/messages/{place}/content/{number}", message)
