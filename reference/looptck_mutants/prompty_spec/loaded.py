"""Distinguishes agents that were loaded from a file from those that were given as values."""

from __future__ import annotations

from looptck_reference.loop.loop import Loop


def is_loaded(loop: Loop) -> bool:
    """Whether the agent of a loop came from a file: only then a handler for its children exists."""
    return loop.registry.get_tool_handler("prompty") is not None
