"""Tools that run again because a request is repeated."""

from __future__ import annotations

from collections.abc import Iterable

from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import ToolCall


def run_again(loop: Loop, calls: Iterable[ToolCall]) -> None:
    """Run calls again, and discard their results."""
    for call in calls:
        handler = loop.handler_for(call)
        if handler is not None:
            handler(**loop.parse_arguments(call.arguments))
