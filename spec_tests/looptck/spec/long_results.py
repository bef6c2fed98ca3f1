"""Long texts that tools return, and the words in which a loop says that it has shortened one."""

from __future__ import annotations

import re

from looptck.bench.run import Run
from looptck.values.outcome import Failed
from looptck.values.plain import differs
from looptck.values.verdicts import NotApplicable

BEGINNING = 16
"""A text is found again by so many of its first characters."""
SHORTENED = re.compile(
    r"truncat|shorten|omit|elided|left out|preview|summar|\bcut\b|\b(stored|saved|written) (to|in|as)\b|too long"
    r"|too large|\b(more|remaining) (char|sign|line|byte|token|word)"
    r"|…|\.\.\.|\d[\d.,' ]*[^\W\d_]{3,}|[\[(][^\])\d]*[^\W\d_]{3,}[^\])]*[\])]",
    re.IGNORECASE,
)
"""Words and signs in any language: dots, a number with its unit, or a remark in brackets; `long_text` has none."""
_HELD = re.compile(r"\b(context|prompt|request|result|history|conversation|token|input)s?\b", re.IGNORECASE)
_ABOVE = re.compile(r"too (long|large|big|many)|exceed|longer|larger|\b(limit|budget|maximum)\b", re.IGNORECASE)
"""Words of an error that says that what the model would get is too long; both kinds are in it."""
_BROKEN = re.compile("[\ufffd\ud800-\udfff]")
SIGN = "\N{GRINNING FACE}"
"""A character of four bytes in UTF-8, and of two units in UTF-16."""


def long_text(length: int) -> str:
    """A text of numbers, without words."""
    return "".join(f"{n:07d} é " for n in range(length // 10))


def signs(offset: int, count: int) -> str:
    """A text of such characters, whose bytes begin at this offset."""
    return "x" * offset + SIGN * count


def broken(text: str) -> str | None:
    """The first place at which a text has a part of a character, with what is before it; None if it has none."""
    found = _BROKEN.search(text)
    return None if found is None else text[max(0, found.start() - BEGINNING // 2) : found.end()]


def is_told_as_shortened(text: str) -> bool:
    """Whether a text for the model says that it is not the whole."""
    return SHORTENED.search(text) is not None


def require_no_refusal(run: Run) -> None:
    """Raise NotApplicable if the loop sends no long result, and tells its caller that it is too long."""
    told = run.outcome.message if isinstance(run.outcome, Failed) else ""
    if len(run.requests) == 1 and _HELD.search(told) and _ABOVE.search(told):
        raise NotApplicable(f"the loop does not ask with what is too long for it: it {run.outcome}")


def loss(text: str, got: str) -> str:
    """Where a text that has not arrived whole begins to differ from what arrived, whatever that says before it."""
    begins = max(got.find(text[:BEGINNING]), 0)
    return f"of {len(text)} characters not all have arrived: {differs(text, got[begins:])}"
