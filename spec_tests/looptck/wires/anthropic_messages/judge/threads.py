"""Threads: conversations that the service stores, so that a request carries only the new messages.

A request with ``thread: {"type": "create"}`` has its conversation kept under the id of the reply; one that continues
from that id sends the new messages alone, and neither ``system`` nor ``tools``, which stay as they were. Each reply is
continued once. A service that has lost a thread says so with an error code of its own; the whole conversation, sent
again, starts a new one. (The official SDK's ``lib/threads``, and the types of its errors.)
"""

from __future__ import annotations

from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.frozen import dataclass
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.anthropic_messages.encode import body

RULES = {
    "threads-are-supported": "A request has a thread only if the service stores threads.",
    "threads-are-known": "A thread continues from a reply that the service has stored.",
    "threads-go-on-once": "Each reply of a thread is continued once.",
    "threads-keep-what-they-began-with": "A request that continues a thread has neither `system` nor `tools`.",
}

_BEGINS_WITH: tuple[str, ...] = ("system", "tools")

NOT_FOUND = "thread_not_found"

_LOST = {
    NOT_FOUND: "thread: no usable thread state was found for `previous_message_id`",
    "thread_already_continued": "thread: the response that `previous_message_id` names has already been continued",
    "thread_continue_in_flight": "thread: another request is still continuing from this `previous_message_id`",
    "thread_fingerprint_mismatch": "thread: a field differs from the value that is stored with the thread",
    "thread_unsupported_request": "thread: threads are not supported for this request",
}
"""The message for each error code of a refused thread."""

_Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Thread:
    began: dict[str, Any]
    messages: list[_Message]


class Threads:
    """The threads of one run, by the id of the reply that each continues from."""

    def __init__(self, *, supported: bool) -> None:
        self._supported = supported
        self._threads: dict[str, _Thread] = {}
        self._continued: set[str] = set()
        self._lost: dict[str, str] = {}

    def problem(self, request: dict[str, Any]) -> Problem | None:
        """Why the request's thread cannot be created or continued."""
        if not self._supported:
            return _turned_away("threads-are-supported", "/thread", "thread_unsupported_request")
        id = continued(request)
        pointer = "/thread/previous_message_id"
        if id is None:
            return None
        if id in self._lost:
            return _turned_away("threads-are-known", pointer, self._lost[id])
        if id not in self._threads:
            return Problem("threads-are-known", pointer, _LOST[NOT_FOUND], 404, NOT_FOUND)
        if id in self._continued:
            return _turned_away("threads-go-on-once", pointer, "thread_already_continued")
        for field in _BEGINS_WITH:
            if field in request:
                words = f"{field}: cannot be set on a request that continues a thread"
                return Problem("threads-keep-what-they-began-with", f"/{field}", words)
        return None

    def whole(self, request: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The request with the messages of its thread, and the number of these messages."""
        thread = self._threads.get(continued(request) or "")
        new = request.get("messages")
        if thread is None or not isinstance(new, list):
            return request, 0
        return {**request, **thread.began, "messages": thread.messages + new}, len(thread.messages)

    def replied(self, request: dict[str, Any], n: int, turn: Turn, id: str | None = None) -> None:
        """Record that a request with a thread was answered with this turn, under a recorded or generated id."""
        reply = body(turn, n, DEFAULT)
        whole, _ = self.whole(request)
        began = {field: whole[field] for field in _BEGINS_WITH if field in whole}
        spoken = [block for block in reply["content"] if block["type"] != "text" or block["text"].strip()]
        messages = [*whole["messages"], {"role": "assistant", "content": spoken}] if spoken else whole["messages"]
        self._threads[id or reply["id"]] = _Thread(began, messages)
        self._continued.add(continued(request) or "")

    def lose_state(self, why: str | None) -> None:
        """Lose all threads; ``why`` is the error code for that."""
        self._lost |= dict.fromkeys(self._threads, why or NOT_FOUND)
        self._threads.clear()


def continued(request: dict[str, Any]) -> str | None:
    """The id of the reply that a request continues from."""
    thread = request.get("thread")
    id = thread.get("previous_message_id") if isinstance(thread, dict) and thread.get("type") == "continue" else None
    return id if isinstance(id, str) else None


def _turned_away(rule: str, pointer: str, code: str) -> Problem:
    status = 404 if code == NOT_FOUND else 400
    return Problem(rule, pointer, _LOST.get(code, f"thread: {code}"), status, code, state_missing=True)
