"""Decodes a recorded reply of the Messages API into a turn."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from looptck.values.turns import Call, Hosted, HostedKind, Piece, Refusal, Served, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.found import Found, NoTurn, body, parsed, written
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
"""By delta type: the member with the added text, and (except for the input) the member of the block that it extends."""
_RESULTS = frozenset({"web_search_tool_result", "mcp_tool_result"})
_SERVED = frozenset(
    {
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "web_fetch_tool_result",
        "tool_search_tool_result",
        "container_upload",
        "compaction",
    }
)
"""The blocks that the service makes by itself and that a loop sends back as they are."""


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises NoTurn if there is none."""
    message = _grown(text) if stream else body(text)
    if not message["error"].nothing:
        raise message["error"].but("the reply is an error")
    content = [*message["content"]]
    answered = {block["tool_use_id"].text for block in content if _is_result(block)}
    pieces: list[Piece] = [_piece(block, answered) for block in content if not _is_result(block)]
    details = message["stop_details"]
    explanation = None if details.nothing else details["explanation"].text_if_any
    if explanation is not None:
        pieces.append(Refusal(explanation))
    container = message["container"]
    within = None if container.nothing else container["id"].text_if_any
    return Turn(tuple(pieces), _stop(message["stop_reason"]), within)


def _is_result(block: Found) -> bool:
    """Whether a block is the result of a hosted tool, which its piece has; an error is a piece of its own."""
    return block["type"].text in _RESULTS and isinstance(block["content"].value, list)


def _stop(reason: Found) -> Stop:
    if reason.nothing:
        raise reason.but("a stop_reason was expected")
    return _STOPS.get(reason.text, "unknown")


def _grown(text: str) -> Found:
    """The message that the events of a stream form. The input of a tool stays text, as the model wrote it.

    The message may start with its complete content; then the stream may end without further events.
    """
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events(text):
        match event["type"].text:
            case "message_start":
                message = {**event["message"].fields}
                blocks = {number: {**block.fields} for number, block in enumerate(event["message"]["content"].entries)}
            case "content_block_start":
                blocks[event["index"].number] = {**event["content_block"].fields}
            case "content_block_delta":
                _grow(blocks, event)
            case "message_delta":
                message |= event["delta"].fields
            case "error":
                raise event.but("the stream breaks off with an error")
            case "message_stop":
                return Found({**message, "content": [blocks[index] for index in sorted(blocks)]})
    raise NoTurn("no event ends the message")


def _grow(blocks: dict[int, dict[str, Any]], event: Found) -> None:
    block, delta = blocks.get(event["index"].number), event["delta"]
    if block is None:
        raise event["index"].but("a block that had begun was expected")
    member = _GROWS.get(delta["type"].text)
    if member is not None:
        block[member] = (Found(block)[member].text_if_any or "") + delta[member].text


def _piece(block: Found, answered: Collection[str]) -> Piece:
    match block["type"].text:
        case "text":
            return Text(block["text"].text)
        case "tool_use":
            return Call(block["name"].text, _input(block), block["id"].text)
        case "thinking":
            return Thinking(block["thinking"].text, recorded_signature=block["signature"].text_if_any or "")
        case "redacted_thinking":
            return Thinking("", redacted=True, recorded_signature=block["data"].text)
        case "server_tool_use" if block["name"].text == "web_search":
            return _hosted("search", block, answered)
        case "mcp_tool_use":
            return _hosted("mcp", block, answered)
        case "x_unknown":
            return Unknown(block["id"].text)
        case "server_tool_use":
            return _served({**block.fields, "input": _wanted(block).value})
        case kind if kind in _SERVED | _RESULTS:
            return _served(block.fields)
        case kind:
            raise block.but(f"looptck does not know blocks of type {kind!r}")


def _input(block: Found) -> str:
    """The text of a tool's input. Without deltas, or with only empty ones, the input of the start event is used."""
    grown, given = block["partial_json"], block["input"]
    if not grown.nothing and (grown.text or not given.value or given.nothing):
        return grown.text
    return "{}" if given.nothing else written(given)


def _served(block: Mapping[str, Any]) -> Served:
    """A block that the service has made by itself, as it is."""
    return Served(json.dumps({name: one for name, one in block.items() if name != "partial_json"}, ensure_ascii=False))


def _wanted(block: Found) -> Found:
    return Found(parsed(_input(block), f"{block.place}/input"), f"{block.place}/input")


def _hosted(kind: HostedKind, block: Found, answered: Collection[str]) -> Hosted:
    wanted = _wanted(block)
    if not isinstance(wanted.value, dict) or not isinstance(wanted.value.get("query"), str):
        raise wanted.but("a hosted tool whose input is a query was expected")
    id = block["id"].text
    return Hosted(kind, wanted["query"].text, id in answered, id.partition("_")[2])
