"""Writes a turn as the Responses API would send it: the response object with its output items, and errors.

The members, and their order in each item, are those that the service was seen to send. Each piece of the turn is an
item of its own, in the turn's order; a stream (``encode_stream``) is made from the same items.
"""

from __future__ import annotations

import json
from typing import Any

from looptck.framing import Framing
from looptck.turns import Call, Hosted, Piece, Refusal, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.openai_chat.encode import error_body

__all__ = ["SERVER_ERROR", "STATUS", "body", "error_body", "items", "text_of"]

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
"""The status of a response; a turn with calls and one without look the same in it."""

SERVER_ERROR = {"code": "server_error", "message": "The server had an error while processing your request."}

_INCOMPLETE: dict[Stop, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
_BACKGROUND = frozenset({"cancelled", "queued"})
"""What only a response that runs in the background can be."""
_WRITTEN = frozenset({"message", "function_call", "custom_tool_call"})
"""The items that can be cut in the middle."""
_USAGE = {
    "input_tokens": 40,
    "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 60,
}
_BILLED = frozenset({"completed", "incomplete"})
"""The states in which a response was seen to have a usage."""


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
        "completed_at": began + 1 if status == "completed" else None,
        "error": SERVER_ERROR if status == "failed" else None,
        "incomplete_details": {"reason": _INCOMPLETE[stop]} if stop in _INCOMPLETE else None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": "looptck-model",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _USAGE if status in _BILLED else None,
        "user": None,
        "metadata": {},
    }
    if framing.unknown_fields:
        reply["x_unknown"] = [1]
        for item in output:
            item["x_unknown"] = {"call_id": None}
    return reply


def items(turn: Turn, n: int) -> list[dict[str, Any]]:
    """The output items of a numbered turn, the ``n``-th of its run.

    What the token limit or the content filter cut is the last item, and it says so; the others were whole by then.
    """
    output = [_item(piece, f"msg_looptck{n:04d}_{place}") for place, piece in enumerate(turn.pieces)]
    if turn.stopped in _INCOMPLETE and output and output[-1]["type"] in _WRITTEN:
        output[-1]["status"] = "incomplete"
    return output


def text_of(event: object) -> str:
    """The text for the caller that an event adds."""
    if isinstance(event, dict) and event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    return ""


def _item(piece: Piece, message_id: str) -> dict[str, Any]:
    match piece:
        case Text(text, phase, id):
            part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
            return _message(id or message_id, part, {} if phase is None else {"phase": phase})
        case Refusal(text):
            return _message(message_id, {"type": "refusal", "refusal": text}, {})
        case Call():
            return _call(piece)
        case Thinking():
            summary = [] if piece.redacted else [{"type": "summary_text", "text": piece.text}]
            return {"id": f"rs_{piece.id}", "type": "reasoning", "encrypted_content": piece.seal, "summary": summary}
        case Hosted():
            return _hosted(piece)
        case Unknown(id):
            return {"id": id, "type": "x_unknown", "status": "completed"}


def _message(id: str, part: dict[str, Any], phase: dict[str, str]) -> dict[str, Any]:
    return {"id": id, "type": "message", "status": "completed", "content": [part], **phase, "role": "assistant"}


def _call(call: Call) -> dict[str, Any]:
    if call.custom:
        head = {"id": call.item or f"ctc_{call.id}", "type": "custom_tool_call", "status": "completed"}
        return {**head, "call_id": call.id, "input": call.arguments, "name": call.tool}
    head = {"id": call.item or f"fc_{call.id}", "type": "function_call", "status": "completed"}
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
