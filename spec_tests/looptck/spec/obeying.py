"""Models that obey: one that a request offers no tools, or forbids to call one, answers with a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.values.turns import Turn, says

STOPS = "I stop here."


def obeying(turn: Callable[[], Turn], answer: str = STOPS) -> Callable[[Any], Turn]:
    """A model that makes this turn wherever it may call a tool, and else answers."""
    return lambda body: says(answer) if may_not_call(body) else turn()


def may_not_call(body: Any) -> bool:
    """Whether a request lets the model call no tool."""
    fields = body if isinstance(body, dict) else {}
    choice = fields.get("tool_choice")
    if choice == "none" or (isinstance(choice, dict) and choice.get("type") == "none"):
        return True
    return not fields.get("tools") and not _has_its_tools(fields)


def _has_its_tools(fields: Mapping[str, Any]) -> bool:
    """Whether the service already has the tools: those of a message thread are stored, and not sent again."""
    thread = fields.get("thread")
    return "tools" not in fields and isinstance(thread, dict) and thread.get("type") == "continue"
