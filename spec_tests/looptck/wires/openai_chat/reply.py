"""Reads a recorded reply of Chat Completions back into the turn that it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from looptck.turns import Call, Piece, Refusal, Stop, Text, Turn

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "length": "length",
    "content_filter": "content_filter",
}
_LINE_END = re.compile("\r\n|\r|\n")


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises what reading foreign JSON raises where it says none."""
    if stream:
        message, finish = _joined(json.loads(line[5:]) for line in _LINE_END.split(text) if _is_event(line))
    else:
        choice = json.loads(text)["choices"][0]
        message, finish = choice["message"], choice["finish_reason"]
    pieces: list[Piece] = []
    if message["content"] is not None:
        pieces.append(Text(message["content"]))
    if message.get("refusal") is not None:
        pieces.append(Refusal(message["refusal"]))
    calls = message.get("tool_calls") or ()
    pieces += [Call(call["function"]["name"], call["function"]["arguments"], call["id"]) for call in calls]
    return Turn(tuple(pieces), _STOPS[finish])


def _is_event(line: str) -> bool:
    return line.startswith("data:") and line[5:].strip() != "[DONE]"


def _joined(chunks: Iterable[Any]) -> tuple[dict[str, Any], str]:
    """The message that the deltas of a stream make, and its finish reason."""
    message: dict[str, Any] = {"content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish = ""
    for choice in (choice for chunk in chunks for choice in chunk["choices"]):
        delta = choice["delta"]
        finish = choice["finish_reason"] or finish
        if delta.get("content"):
            message["content"] = (message["content"] or "") + delta["content"]
        for part in delta.get("tool_calls") or ():
            call = calls.setdefault(part["index"], {"id": part.get("id"), "function": {"name": "", "arguments": ""}})
            for name, piece in part["function"].items():
                call["function"][name] += piece
    return {**message, "tool_calls": [calls[index] for index in sorted(calls)]}, finish
