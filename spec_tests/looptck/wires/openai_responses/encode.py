"""Encodes a turn as the Responses API would send it: the response object with its output items, and errors.

The members, and their order in each item, are those that the service was seen to send in the summer of 2026. Each piece
of the turn is an item of its own, in the turn's order; a stream (``encode_stream``) is made from the same items.
"""

from __future__ import annotations

import json
import re
from typing import Any

from looptck.values.framing import Framing
from looptck.values.turns import Call, Hosted, Piece, Refusal, Served, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.openai_chat.encode import error_body

__all__ = ["SERVER_ERROR", "STATUS", "UNKNOWN", "body", "error_body", "items", "text_of", "tool_usage"]

STATUS: dict[Stop, str] = {
    "end": "completed",
    "calls": "completed",
    "length": "incomplete",
    "content_filter": "incomplete",
    "failed": "failed",
    "cancelled": "cancelled",
    "queued": "queued",
    "in_progress": "in_progress",
}
"""The status of a response by stop reason; it does not show whether a turn has calls."""

UNKNOWN: dict[str, Any] = {"call_id": None}
"""The value of every undocumented field. It is of one type, so that deltas which repeat it can be merged."""

SERVER_ERROR = {"code": "server_error", "message": "The server had an error while processing your request."}

_INCOMPLETE: dict[Stop, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_BACKGROUND = frozenset({"cancelled", "queued"})
"""The states that only a background response can have."""
_WRITTEN = frozenset({"message", "function_call", "custom_tool_call"})
"""The items that can be cut in the middle."""
_LETTERS = re.compile("[a-z]+")
_NO_IMAGES = {
    "input_tokens": 0,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "total_tokens": 0,
}
_BILLED = frozenset({"completed", "incomplete"})
"""The states in which responses were observed to have a usage."""


def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
    """The plain reply: an object ``response``."""
    stop = turn.stopped
    status = STATUS[stop]
    began = 1_750_000_000 + n
    output = items(turn, n)
    reply = {
        "id": f"resp_looptck{n:016d}",
        "object": "response",
        "created_at": began,
        "status": status,
        "background": status in _BACKGROUND,
        "billing": {"payer": "developer"},
        "completed_at": began + 1 if status == "completed" else None,
        **({} if turn.conversation is None else {"conversation": {"id": turn.conversation}}),
        "error": SERVER_ERROR if status == "failed" else None,
        "frequency_penalty": 0.0,
        "incomplete_details": {"reason": _INCOMPLETE[stop]} if stop in _INCOMPLETE else None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": framing.model,
        "moderation": None,
        "output": output,
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "prompt_cache_retention": "24h",
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tool_usage": tool_usage(turn),
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(turn) if status in _BILLED and framing.quirk != "usage-null" else None,
        "user": None,
        "metadata": {},
    }
    if framing.quirk == "no-usage":
        del reply["usage"]
    for known in (reply, *output) if framing.unknown_fields else ():
        known["x_unknown"] = UNKNOWN
    return reply


def items(turn: Turn, n: int) -> list[dict[str, Any]]:
    """The output items of a numbered turn, the ``n``-th of its run.

    The token limit or the content filter cuts the last item, which is marked as incomplete; the others are complete.
    """
    names = _names(turn, n)
    output = [_item(piece, name) for piece, name in zip(turn.pieces, names, strict=True)]
    if turn.stopped in _INCOMPLETE and output and output[-1]["type"] in _WRITTEN:
        output[-1]["status"] = "incomplete"
    return output


def text_of(event: object) -> str:
    """The text that an event adds to the answer."""
    if isinstance(event, dict) and event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    return ""


def _usage(turn: Turn) -> dict[str, Any]:
    used = turn.used
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": used.cached},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": used.input + used.output,
    }


def tool_usage(turn: Turn) -> dict[str, Any]:
    """The usage of the service's hosted tools in a turn."""
    searches = sum(isinstance(piece, Hosted) and piece.done and piece.kind == "search" for piece in turn.pieces)
    return {"image_gen": _NO_IMAGES, "web_search": {"num_requests": searches}}


def _names(turn: Turn, n: int) -> list[str]:
    """The part of an item's id that is unique among its kind in the run; a call that the script has numbered by its id.

    So the ids of items differ where those of calls do not: no service was seen to send one item id twice.
    """
    numbered = f"call_{n}"
    names: list[str] = []
    for place, piece in enumerate(turn.pieces):
        id = piece.id if isinstance(piece, Call) and piece.id is not None else ""
        letters = id.removeprefix(numbered)
        own = len(letters) < len(id) and _LETTERS.fullmatch(letters) and id not in names
        names.append(id if own else f"{id}{'_' if id else ''}looptck{n:04d}_{place}")
    return names


def _item(piece: Piece, name: str) -> dict[str, Any]:
    match piece:
        case Text(text, phase, id):
            part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
            return _message(id or f"msg_{name}", part, {} if phase is None else {"phase": phase})
        case Refusal(text):
            return _message(f"msg_{name}", {"type": "refusal", "refusal": text}, {})
        case Call():
            return _call(piece, name)
        case Thinking():
            summary = [] if piece.redacted else [{"type": "summary_text", "text": piece.text}]
            sealed = {} if piece.withheld else {"encrypted_content": piece.signature}
            return {"id": f"rs_{piece.id}", "type": "reasoning", **sealed, "summary": summary}
        case Hosted():
            return _hosted(piece)
        case Unknown(id):
            return {"id": id, "type": "x_unknown", "status": "completed"}
        case Served():
            return piece.value


def _message(id: str, part: dict[str, Any], phase: dict[str, str]) -> dict[str, Any]:
    return {"id": id, "type": "message", "status": "completed", "content": [part], **phase, "role": "assistant"}


def _call(call: Call, name: str) -> dict[str, Any]:
    if call.custom:
        head = {"id": call.item or f"ctc_{name}", "type": "custom_tool_call", "status": "completed"}
        return {**head, "call_id": call.id, "input": call.arguments, "name": call.tool}
    head = {"id": call.item or f"fc_{name}", "type": "function_call", "status": "completed"}
    return {**head, "arguments": call.arguments, "call_id": call.id, "name": call.tool}


def _hosted(tool: Hosted) -> dict[str, Any]:
    status = "completed" if tool.done else "in_progress"
    if tool.kind == "search":
        action = {"type": "search", "queries": [tool.query], "query": tool.query}
        return {"id": f"ws_{tool.id}", "type": "web_search_call", "status": status, "action": action}
    return {
        "id": f"mcp_{tool.id}",
        "type": "mcp_call",
        "status": status,
        "approval_request_id": None,
        "arguments": json.dumps({"query": tool.query}, ensure_ascii=False),
        "error": None,
        "name": "search",
        "output": f"Found: {tool.query}" if tool.done else None,
        "server_label": "looptck",
    }
