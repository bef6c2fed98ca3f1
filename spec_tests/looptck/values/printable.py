"""Text of others that is safe to print: it moves no cursor, hides nothing, and has an end."""

from __future__ import annotations

import re

LONGEST = 20_000
"""The most characters of one text that are kept."""
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for tab and line feed, line separators, changes of direction, halves of surrogate pairs."""


def printable(text: str, longest: int = LONGEST) -> str:
    """A text with each unsafe character written as its escape, and with what is beyond the longest left out.

    Args:
        text: anything.
        longest: how many characters are kept.
    """
    beyond = len(text) - longest
    kept = text if beyond <= 0 else f"{text[:longest]} … {beyond} more characters"
    return _UNSAFE.sub(_escape, kept)


_CHANGING = re.compile(r"http://127\.0\.0\.1:\d+/c\d+|0x[0-9a-f]{6,}")


def steady(text: str) -> str:
    """A text without what differs in every run: the address of the provider, and those of objects in memory."""
    return _CHANGING.sub("…", text)


_HAPPENED = re.compile(r"^  what happened, in ms .*\n(?:    .*\n)*", re.MULTILINE)


def untimed(text: str) -> str:
    """A failure report without the list of its events, whose times and order differ in every run."""
    return _HAPPENED.sub("", text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
