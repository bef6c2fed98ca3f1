"""What a loop asks for behind an answer that was cut: for its rest, or for another answer in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from looptck.values.history import Item, Said

REST = re.compile(
    r"\b(continu\w*|go on|carry on|keep going|resume|rest|remain\w*|left off|stopped|finish|proceed|pick up)\b",
    re.IGNORECASE,
)
"""Words that ask for what is missing."""
ANEW = re.compile(
    r"\b(again|anew|from the (start|beginning)|start over|shorter|short|brief\w*|concise\w*|fewer|whole|entire|"
    r"rewrite|rephrase|redo|instead|summar\w*)\b",
    re.IGNORECASE,
)
"""Words that ask for another answer, which is whole by itself."""
NOT = re.compile(r"\b(do not|don't|never|without|no need to)\b[^.;:,!?]*", re.IGNORECASE)
"""What is not asked for."""


def asks_for_the_rest(sent: Sequence[Item]) -> bool:
    """Whether a request has a text of the model, and behind it nothing, or words that ask for its rest."""
    last = max((n for n, item in enumerate(sent) if isinstance(item, Said) and item.role == "assistant"), default=None)
    if last is None:
        return False
    words = NOT.sub(" ", " ".join(item.text for item in sent[last + 1 :] if isinstance(item, Said)))
    return not words.strip() or (REST.search(words) is not None and ANEW.search(words) is None)
