"""A reader of Messages streams for the tests alone: it shares no code with anything but its neighbour for lines.

It reads every framing. The official SDK does not: ``UNREAD`` in ``test_messages_sdk`` says which, and why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from meta.wires.sse_reader import data_of

_ADDED = ("text", "thinking", "signature", "partial_json")


def said(stream: bytes) -> dict[str, Any]:
    """What the events of one turn say together: its blocks in order, and how the message ended."""
    return _said(json.loads(data) for data in data_of(stream) if data != "[DONE]")


def _said(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    message: dict[str, Any] = {"stop_reason": None, "stopped": set(), "over": False}
    for event in events:
        kind = event["type"]
        if kind == "content_block_start":
            assert event["index"] == len(blocks), "blocks start in order"
            blocks[event["index"]] = event["content_block"]
        elif kind == "content_block_delta":
            assert event["index"] not in message["stopped"], "a block that has stopped grows no more"
            for member in _ADDED:
                if member in event["delta"]:
                    block = blocks[event["index"]]
                    block[member] = block.get(member, "") + event["delta"][member]
        elif kind == "content_block_stop":
            message["stopped"].add(event["index"])
        elif kind == "message_delta" and event["delta"]["stop_reason"]:
            message |= {name: event["delta"][name] for name in ("stop_reason", "stop_sequence", "stop_details")}
        elif kind == "message_stop":
            message["over"] = True
    return {**message, "content": [_whole(blocks[index]) for index in range(len(blocks))]}


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    """The block with the input that its fragments make: a JSON value, or the text where it is none."""
    if "partial_json" in block or "use" in block["type"].split("_"):
        block["input"] = value_of(block.pop("partial_json", "")) or block.get("input", {})
    return block


def value_of(arguments: str) -> Any:
    """The JSON value of an argument text, or the text where it is none."""
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments
