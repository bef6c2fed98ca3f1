"""Declarations of loops that are made of the reference and have fewer abilities than it."""

from __future__ import annotations

from typing import Any

TALKING = frozenset(
    {"conversations", "histories", "shared", "cancel", "interrupt", "leave", "confirm", "suspend", "travels"}
)
"""The capabilities of a loop that goes on with conversations, and can be interrupted."""


def without_talking(started: dict[str, Any], **capabilities: bool) -> dict[str, Any]:
    """The declaration of a loop whose runs are each for themselves, with these capabilities in addition."""
    kept = {name: can for name, can in started["capabilities"].items() if name not in TALKING}
    return {**started, "capabilities": {**kept, **capabilities}}
