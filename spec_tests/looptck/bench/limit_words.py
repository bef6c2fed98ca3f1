"""Words by which an error tells that the loop has reached a limit."""

from __future__ import annotations

import re

from looptck.values.outcome import Failed

WORDS = re.compile(
    r"\b(limit(s|ed)?|max(imum)?|exceed(s|ed)?|exhausted|reached|many|budget|recursion|depth|cap"
    r"|iterations?|turns?|steps?|rounds?|cycles?)\b"
)
"""Words of an error that names a limit."""
STRONG = re.compile(r"\b(limit|max(imum)?|exceed(s|ed)?|exhausted)\b")
"""The words that no error of a programming mistake contains by chance."""
MISTAKES = {
    *("AssertionError", "AttributeError", "IndexError", "KeyError", "NameError", "TypeError", "UnboundLocalError"),
    *("NullPointerException", "NullReferenceException", "RecursionError", "ReferenceError"),
}
"""The types of errors that programming mistakes raise in various languages."""


def names_a_limit(error: Failed) -> bool:
    """Whether the error's type and message name a limit."""
    if error.type == "RecursionError":  # Python's own, which is about its stack
        return False
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", f"{error.type} {error.message}")
    words = STRONG if error.type in MISTAKES else WORDS
    return words.search(parted.lower().replace("_", " ")) is not None
