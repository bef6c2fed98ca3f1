"""Encodes a turn as the Messages API would send it: the message with its content blocks, and errors.

The members, and their order, are those that the service was seen to send. Each piece of the turn is a block of its own,
in the turn's order, or two: a tool that the service itself runs, and its result. A stream (``encode_stream``) is made
from the same blocks.
"""

from __future__ import annotations

import json
from typing import Any

from looptck.values.framing import Framing
from looptck.values.turns import Call, Hosted, Piece, Refusal, Served, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.wire import FAILED_REQUEST

STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "context_window": "model_context_window_exceeded",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "pause": "pause_turn",
    "compaction": "compaction",
    "unknown": "looptck_unknown",
}
"""The word for each stop reason."""

UNKNOWN: dict[str, Any] = {"tool_use_id": None}
"""The value of every undocumented field. It is of one type, so that deltas which repeat it can be merged."""

OPTIONAL_COUNTS = ("cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation")
"""The members of the usage that may be null; compatible servers leave them out."""

STOP_SEQUENCE = "\n\nlooptck"

_DIRECT = {"caller": {"type": "direct"}}
"""The caller of a tool: the model itself, and not code that it runs."""
_CODE = frozenset({"code_execution", "bash_code_execution"})
"""The service's tools that run code."""
_ERROR_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
    """The plain reply: an object ``message``."""
    content = [block for piece in turn.pieces for block in _blocks(piece)]
    if turn.container is not None:
        _called_by_code(content)
    reply = {
        "model": framing.model,
        "id": f"msg_looptck{n:016d}",
        "type": "message",
        "role": "assistant",
        "content": content,
        **_ending(turn),
        "usage": _usage(turn, framing),
    }
    if turn.container is not None:
        reply["container"] = {"id": turn.container, "expires_at": "2030-01-01T00:00:00Z"}
    for known in (reply, *content) if framing.unknown_fields else ():
        known["x_unknown"] = UNKNOWN
    return reply


def text_of(event: object) -> str:
    """The text that an event adds to the answer."""
    delta = event.get("delta", {}) if isinstance(event, dict) else {}
    return str(delta["text"]) if delta.get("type") == "text_delta" else ""


def error_body(status: int, message: str) -> dict[str, Any]:
    """The error object that the service sends, alone or inside a stream."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": FAILED_REQUEST}


def input_of(arguments: str) -> dict[str, Any]:
    """The arguments as the input object of a block.

    Of arguments that were cut it holds the members that were whole by then: so clients report it of the service. Other
    texts that are no object are never asked for in a plain reply (``Wire.can_say``).
    """
    for end in _ends(arguments):
        try:
            value = json.loads(end)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {}


def _ends(arguments: str) -> list[str]:
    """The text, and the text closed before each of its commas, from the last one on."""
    commas = [at for at, char in enumerate(arguments) if char == ","]
    return [arguments, *(arguments[:at] + "}" for at in reversed(commas))]


def _blocks(piece: Piece) -> list[dict[str, Any]]:
    match piece:
        case Text(text):
            return [{"type": "text", "text": text}]
        case Refusal():
            return []
        case Call(tool, arguments, id):
            return [{"type": "tool_use", "id": id, "name": tool, "input": input_of(arguments), **_DIRECT}]
        case Thinking(redacted=True):
            return [{"type": "redacted_thinking", "data": piece.signature}]
        case Thinking(text):
            return [{"type": "thinking", "thinking": text, "signature": piece.signature}]
        case Hosted():
            return _hosted(piece)[: 2 if piece.done else 1]
        case Unknown(id):
            return [{"type": "x_unknown", "id": id}]
        case Served():
            return [piece.value]


def _called_by_code(content: list[dict[str, Any]]) -> None:
    """Let the code that the service has run before them be the caller of the calls."""
    code = next((block["id"] for block in content if block.get("name") in _CODE), None)
    for block in content:
        if block["type"] == "tool_use" and code is not None:
            block["caller"] = {"type": "code_execution_20250825", "tool_id": code}


def _hosted(tool: Hosted) -> list[dict[str, Any]]:
    """The block of a hosted tool's call, and the block of its result."""
    wanted = {"query": tool.query}
    if tool.kind == "mcp":
        id = f"mcptoolu_{tool.id}"
        said = {"type": "text", "text": f"Found: {tool.query}"}
        return [
            {"type": "mcp_tool_use", "id": id, "name": "search", "input": wanted, "server_name": "looptck"},
            {"type": "mcp_tool_result", "tool_use_id": id, "is_error": False, "content": [said]},
        ]
    id = f"srvtoolu_{tool.id}"
    found = {
        "type": "web_search_result",
        "title": f"Found: {tool.query}",
        "url": "https://looptck.example/found",
        "encrypted_content": "bG9vcHRjaw==",
        "page_age": None,
    }
    return [
        {"type": "server_tool_use", "id": id, "name": "web_search", "input": wanted, **_DIRECT},
        {"type": "web_search_tool_result", "tool_use_id": id, "content": [found], **_DIRECT},
    ]


def _ending(turn: Turn) -> dict[str, Any]:
    """The members with the stop reason. A refusal is a stop reason; its text is here and not in a block."""
    stop = "refusal" if turn.stop is None and turn.refusal is not None else turn.stopped
    details = {
        "type": "refusal",
        "category": None if turn.refusal is None else "general_harms",
        "explanation": turn.refusal,
    }
    return {
        "stop_reason": STOPS[stop],
        "stop_sequence": STOP_SEQUENCE if stop == "stop_sequence" else None,
        "stop_details": details if stop == "refusal" else None,
    }


def _usage(turn: Turn, framing: Framing) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "input_tokens": turn.used.input - turn.used.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": turn.used.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": turn.used.output,
    }
    if framing.quirk == "counts-null":
        usage |= dict.fromkeys(OPTIONAL_COUNTS)
    elif framing.quirk == "counts-missing":
        usage = {name: value for name, value in usage.items() if name not in OPTIONAL_COUNTS}
    hosted = [piece.kind for piece in turn.pieces if isinstance(piece, Hosted)]
    if hosted:
        usage["server_tool_use"] = {"web_search_requests": hosted.count("search"), "web_fetch_requests": 0}
    return {**usage, "service_tier": "standard", "inference_geo": "not_available"}
