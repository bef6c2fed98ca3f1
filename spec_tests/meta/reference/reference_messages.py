"""Anthropic Messages replies for these tests, written from what the provider documents and not from what we parse."""

from __future__ import annotations

import json
from typing import Any

from meta.reference.reference_replies import URL, Json

MESSAGES = f"{URL}/messages"

PING = {"type": "ping"}
START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "m",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    },
}
STOP = {"type": "message_stop"}

THINKING = {"type": "thinking", "thinking": "Where is it?", "signature": "EqQBCgIYAhIM+/=="}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Paris"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "https://example.com", "encrypted_content": "EqgfCio"}],
}
MCP = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "s", "input": {"x": 1}}
MCP_RESULT = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []}
HOLOGRAM = {"type": "hologram", "data": "0110", "depth": 3}


def text(said: str) -> Json:
    """A block of text."""
    return {"type": "text", "text": said}


def tool_use(call_id: str = "toolu_1", name: str = "weather", **more: Any) -> Json:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"city": "Paris"}, **more}


def message(*blocks: Json, stop: str | None = "end_turn") -> Json:
    """A plain reply."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 3, "output_tokens": 9}
    return {**head, "content": list(blocks), "stop_reason": stop, "stop_sequence": None, "usage": usage}


def start(index: int, block: Json) -> Json:
    """A block begins."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **more: Any) -> Json:
    """A block grows."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int) -> Json:
    """A block is whole."""
    return {"type": "content_block_stop", "index": index}


def ends(reason: str | None, output_tokens: int = 9) -> Json:
    """The event with the stop reason."""
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": output_tokens},
    }


def text_block(index: int, *pieces: str) -> list[Json]:
    """The events of a block of text."""
    deltas = [delta(index, "text_delta", text=piece) for piece in pieces]
    return [start(index, {"type": "text", "text": ""}), *deltas, stop(index)]


def tool_block(index: int, *pieces: str, call_id: str = "toolu_1", name: str = "weather", **more: Any) -> list[Json]:
    """The events of a call; the service begins with an empty piece."""
    head = {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more}
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in ("", *pieces)]
    return [start(index, head), *deltas, stop(index)]


def stream(*events: Json, stop: str | None = "end_turn") -> list[Json]:
    """The events of a whole stream."""
    return [START, PING, *events, ends(stop), STOP]


def sse(*events: Json) -> bytes:
    """Events as bytes, in the service's own style: named, and padded with spaces."""
    lines = [
        f"event: {event.get('type')}\ndata: {json.dumps(event, ensure_ascii=False)[:-1]}   }}\n\n" for event in events
    ]
    return "".join(lines).encode()
