"""Calls and results of earlier turns, as a caller may give them to any wire: `Agent` has the form."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult

__all__ = ["calls_in", "result_in", "up_to"]


def calls_in(message: Json) -> list[ToolCall]:
    """The calls of a message."""
    return [ToolCall(call["id"], call["name"], json.dumps(call["arguments"])) for call in message.get("calls", ())]


def result_in(message: Json) -> ToolResult | None:
    """The result that a message is, if it is one."""
    if "call_id" not in message:
        return None
    return ToolResult(message["call_id"], "", message["content"], failed=message.get("failed", False))


def up_to(pieces: Sequence[Json], ends: Callable[[Json], bool]) -> list[Json]:
    """The pieces up to the last one that may be the end of a turn."""
    last = max((place for place, piece in enumerate(pieces, 1) if ends(piece)), default=0)
    return list(pieces[:last])
