"""Long texts that tools return, and the words in which a loop says that it has shortened one."""

from __future__ import annotations

import re

from looptck.values.plain import differs

BEGINNING = 16
"""A text is found again by so many of its first characters."""
SHORTENED = re.compile(
    r"truncat|shorten|omit|elided|left out|preview|summar|\bcut\b|\b(stored|saved|written) (to|in|as)\b|too long"
    r"|too large|\b(more|remaining) (char|sign|line|byte|token|word)",
    re.IGNORECASE,
)


def long_text(length: int) -> str:
    """A text of numbers, without words."""
    return "".join(f"{n:07d} é " for n in range(length // 10))


def is_told_as_shortened(text: str) -> bool:
    """Whether a text for the model says that it is not the whole."""
    return SHORTENED.search(text) is not None


def loss(text: str, got: str) -> str:
    """Where a text that has not arrived whole begins to differ from what arrived, whatever that says before it."""
    begins = max(got.find(text[:BEGINNING]), 0)
    return f"of {len(text)} characters not all have arrived: {differs(text, got[begins:])}"
