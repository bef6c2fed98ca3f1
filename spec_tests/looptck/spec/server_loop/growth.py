"""How much the process of a server may grow under repeated load before it is said to keep what is over."""

from __future__ import annotations

GROWTH = 24 * 1024 * 1024
"""Bytes by which any process may grow, because not all freed memory is returned."""
SHARE = 8
"""The part of its size by which a process may grow: a collector runs only once the heap has grown by a share."""


def grows(before: int, after: int) -> bool:
    """Whether a process that had ``before`` bytes and has ``after`` has grown by more than it may."""
    return after > before + max(GROWTH, before // SHARE)
