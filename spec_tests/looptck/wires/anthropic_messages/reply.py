"""Reads a recorded reply of the Messages API back into the turn that it says."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from looptck.turns import Call, Hosted, HostedKind, Piece, Refusal, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.received import events

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "context_window",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
    "compaction": "compaction",
}
_GROWS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""By type of a delta: the member that says what is added, and but for the input where it is added."""
_RESULTS = frozenset({"web_search_tool_result", "mcp_tool_result"})


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises what reading foreign JSON raises where it says none."""
    message = _grown(text) if stream else json.loads(text)
    content = message["content"]
    answered = {block["tool_use_id"] for block in content if block["type"] in _RESULTS}
    pieces: list[Piece] = [_piece(block, answered) for block in content if block["type"] not in _RESULTS]
    explanation = (message.get("stop_details") or {}).get("explanation")
    if explanation is not None:
        pieces.append(Refusal(explanation))
    return Turn(tuple(pieces), _stop(message["stop_reason"]))


def _stop(reason: str | None) -> Stop:
    if reason is None:
        raise ValueError("nothing says why the model stopped")
    return _STOPS.get(reason, "unknown")


def _grown(text: str) -> dict[str, Any]:
    """The message that the events of a stream make. The input of a tool stays text, as the model wrote it."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events(text):
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                blocks[event["index"]] = event["content_block"]
            case "content_block_delta":
                _grow(blocks[event["index"]], event["delta"])
            case "message_delta":
                message |= event["delta"]
            case "error":
                raise ValueError(f"the stream breaks off with an error: {event['error']}")
            case "message_stop":
                return {**message, "content": [blocks[index] for index in sorted(blocks)]}
    raise ValueError("no event says that the message is over")


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    member = _GROWS.get(delta["type"])
    if member is not None:
        block[member] = block.get(member, "") + delta[member]


def _piece(block: dict[str, Any], answered: Collection[str]) -> Piece:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "tool_use":
            return Call(block["name"], _input(block), block["id"])
        case "thinking":
            return Thinking(block["thinking"], sealed=block["signature"])
        case "redacted_thinking":
            return Thinking("", redacted=True, sealed=block["data"])
        case "server_tool_use" if block["name"] == "web_search":
            return _hosted("search", block, answered)
        case "mcp_tool_use":
            return _hosted("mcp", block, answered)
        case "x_unknown":
            return Unknown(block["id"])
        case kind:
            raise ValueError(f"no piece of a turn stands for a block of type {kind!r}")


def _input(block: dict[str, Any]) -> str:
    """The text of a tool's input. Where there were no deltas, or only empty ones, what stood at the start counts."""
    written: str = block.get("partial_json", "")
    if written or (not block.get("input") and "partial_json" in block):
        return written
    return json.dumps(block.get("input", {}), ensure_ascii=False)


def _hosted(kind: HostedKind, block: dict[str, Any], answered: Collection[str]) -> Hosted:
    query = json.loads(_input(block))["query"]
    return Hosted(kind, query, block["id"] in answered, block["id"].partition("_")[2])
