"""Encodes a turn as the events that the Messages API would stream.

The default layout is what the service was seen to send: the message starts without content and without a stop reason,
each block starts empty, grows by deltas and stops, and the stop reason comes with the usage after the last block. The
input of a tool comes as the text of its JSON, an empty fragment first, and nothing more where the text is empty. One
ping follows the start of the first block. Everything else is asked for by the framing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from looptck.values.framing import Framing
from looptck.values.turns import Turn
from looptck.wires.anthropic_messages.encode import UNKNOWN, body, error_body
from looptck.wires.fragments import parts, taking_turns

_Event = dict[str, Any]

_NO_INPUT = frozenset({"", "{}"})
_NO_STOP = {"stop_reason": None, "stop_sequence": None, "stop_details": None}
_CUMULATIVE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "server_tool_use",
)
"""The members of the usage that are repeated at the end."""
_AT_START: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
    "server_tool_use": {"input": {}},
    "mcp_tool_use": {"input": {}},
}
"""By type: the initial members of a block. A block of another type is complete from the start."""

_UNKNOWN_DELTA = {"type": "x_unknown_delta", "x_unknown": UNKNOWN}


def events(turn: Turn, n: int, framing: Framing) -> list[object]:
    """The streamed reply: objects with a ``type``."""
    message = body(turn, n, framing)
    usage = {name: value for name, value in message["usage"].items() if name != "server_tool_use"}
    if framing.quirk == "counts-grow":
        usage["input_tokens"] //= 2
    begun = {**message, "content": [], **_NO_STOP, "usage": {**usage, "output_tokens": 1}}
    if turn.container is not None:
        begun["container"] = None
    start = {"type": "message_start", "message": begun}
    stream: list[_Event] = [start, start] if framing.quirk == "start-repeated" else [start]
    stream += _content(turn, message["content"], framing)
    if framing.unknown_events and message["content"]:
        stream.insert(2, {"type": "content_block_delta", "index": 0, "delta": dict(_UNKNOWN_DELTA)})
    if not framing.pings:
        stream.insert(min(2, len(stream)), {"type": "ping"})
    stream += _end(message, framing)
    return [*_between(stream, framing), *(["[DONE]"] if framing.quirk == "end-marker" else [])]


def without_finish(events: list[object]) -> list[object]:
    """The events without those that have the stop reason or end the message."""
    last = {"message_delta", "message_stop"}
    return [event for event in events if not (isinstance(event, dict) and event["type"] in last)]


def error_events(before: list[object], message: str) -> list[object]:
    """The events that replace the rest of a stream: the error from the documentation."""
    return [error_body(529, message)]


def _between(stream: list[_Event], framing: Framing) -> Iterator[_Event]:
    """The events as sent, with the additions of the framing in and between them."""
    for place, event in enumerate(stream):
        if place and framing.unknown_events:
            yield {"type": "x_unknown", "x_unknown": UNKNOWN}
        if framing.pings:
            yield {"type": "ping"}
        if framing.unknown_fields:
            changed = {**event, "x_unknown": UNKNOWN}
            yield changed | ({"delta": {**event["delta"], "x_unknown": UNKNOWN}} if "delta" in event else {})
        else:
            yield event


def _content(turn: Turn, content: list[dict[str, Any]], framing: Framing) -> Iterator[_Event]:
    """The events of all blocks, one block after the other, except for interleaved calls."""
    texts = iter([call.arguments for call in turn.calls])
    lines = []
    for index, block in enumerate(content):
        text = next(texts) if block["type"] == "tool_use" else None
        stops = framing.quirk != "block-not-stopped" or index < len(content) - 1
        ends = [{"type": "content_block_stop"}] * (2 if framing.quirk == "stop-repeated" else 1)
        line = [*_block(block, text, framing), *(ends if stops else [])]
        place = 2 * index + 1 if framing.quirk == "indices-with-gaps" else index
        lines.append([{"type": event["type"], "index": place, **event} for event in line])
    placed = zip(content, lines, strict=True)
    for together, group in groupby(placed, lambda entry: framing.interleaved and entry[0]["type"] == "tool_use"):
        grown = [line for _, line in group]
        yield from taking_turns(grown, _stops) if together else (event for line in grown for event in line)


def _stops(event: _Event) -> bool:
    return bool(event["type"] == "content_block_stop")


def _block(block: dict[str, Any], text: str | None, framing: Framing) -> Iterator[_Event]:
    """The start of a block and its deltas, without their index; ``text``: a call's input as the model wrote it."""
    start = {**block, **_AT_START.get(block["type"], {})}
    if "input" in block and framing.quirk == "input-at-start":
        yield {"type": "content_block_start", "content_block": block}
        return
    if "input" in block and framing.quirk == "no-input-at-start":
        del start["input"]
    if block.get("citations"):
        start["citations"] = []
    deltas = [*_deltas(block, text, framing)]
    kind = block["type"]
    if kind in {"text", "thinking"} and framing.quirk == "text-at-start" and deltas and kind in deltas[0]:
        start[kind] = deltas.pop(0)[kind]
    yield {"type": "content_block_start", "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "delta": delta}


def _deltas(block: dict[str, Any], text: str | None, framing: Framing) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            for part in _parts(block["text"], framing):
                yield {"type": "text_delta", "text": part}
            for citation in block.get("citations") or ():
                yield {"type": "citations_delta", "citation": citation}
        case "thinking":
            for part in _parts(block["thinking"], framing):
                yield {"type": "thinking_delta", "thinking": part}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _ if "input" in block:
            wanted = json.dumps(block["input"], ensure_ascii=False) if text is None else text
            for part in _fragments(wanted, framing):
                yield {"type": "input_json_delta", "partial_json": part}


def _fragments(text: str, framing: Framing) -> Iterator[str]:
    """The fragments of a tool's input."""
    if not framing.no_empty_arguments:
        yield ""
    elif text.strip() in _NO_INPUT:
        return
    yield from _parts(text, framing)


def _parts(text: str, framing: Framing) -> Iterator[str]:
    """The text in parts; if the framing asks for it, with an empty part before and after each."""
    if framing.empty_deltas:
        yield ""
    for part in parts(text, framing.fragment):
        yield part
        if framing.empty_deltas:
            yield ""


def _end(message: dict[str, Any], framing: Framing) -> Iterator[_Event]:
    usage = {name: message["usage"][name] for name in _CUMULATIVE if name in message["usage"]}
    if framing.quirk == "counts-null":
        usage["input_tokens"] = None
    elif framing.quirk == "counts-missing":
        del usage["input_tokens"]
    if framing.split_end:
        so_far = {**usage, "output_tokens": usage["output_tokens"] // 2}
        yield {"type": "message_delta", "delta": dict(_NO_STOP), "usage": so_far}
    reason = {name: message[name] for name in (*_NO_STOP, "container") if name in message}
    yield {"type": "message_delta", "delta": reason, "usage": usage}
    yield {"type": "message_stop"}
