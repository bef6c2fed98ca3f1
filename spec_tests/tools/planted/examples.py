"""An example of a regular expression: made-up text that it matches, and the parts of it that were drawn."""

from __future__ import annotations

import random
import re
import string
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from meta.recording.planted import Planted

LONGEST_REPEAT = 24
"""Characters beyond the fewest that an open repetition gets."""
_SOME = string.ascii_letters + string.digits
_CATEGORIES = {
    kinds.CATEGORY_WORD: _SOME + "_",
    kinds.CATEGORY_DIGIT: string.digits,
    kinds.CATEGORY_SPACE: " ",
    kinds.CATEGORY_NOT_SPACE: _SOME,
}


def example(pattern: str, drawn: random.Random) -> Planted:
    """A text that the whole pattern matches. Short parts that were drawn are no secrets: a name in a URL, say.

    Raises:
        ValueError: none is found.
    """
    for _ in range(200):
        pieces = _pieces(parser.parse(pattern), drawn)
        text = "".join(piece for piece, _ in pieces)
        if re.fullmatch(pattern, text):
            parts = _drawn(pieces)
            longest = max(map(len, parts))
            return Planted(text, tuple(part for part in parts if len(part) >= max(4, longest / 2)))
    raise ValueError(f"no example of {pattern} was found")


def _drawn(pieces: list[tuple[str, bool]]) -> list[str]:
    """The runs of characters that were drawn, one after the other."""
    parts = [""]
    for piece, is_drawn in pieces:
        if is_drawn:
            parts[-1] += piece
        elif parts[-1]:
            parts.append("")
    return parts


def _pieces(parsed: Any, drawn: random.Random) -> list[tuple[str, bool]]:
    """Characters of an example, each with whether others would have done."""
    found = list[tuple[str, bool]]()
    for kind, value in parsed:
        match kind:
            case kinds.LITERAL:
                found.append((chr(value), False))
            case kinds.IN:
                letters = _letters(value)
                found.append((drawn.choice(letters), len(letters) > 4))
            case kinds.BRANCH:
                found += _pieces(drawn.choice(value[1]), drawn)
            case kinds.SUBPATTERN:
                found += _pieces(value[-1], drawn)
            case kinds.MAX_REPEAT:
                fewest, most, repeated = value
                times = min(most, fewest + (LONGEST_REPEAT if fewest > 4 else 8))
                for _ in range(times if most > 1 else drawn.randint(fewest, most)):
                    found += _pieces(repeated, drawn)
            case kinds.ASSERT | kinds.ASSERT_NOT | kinds.AT:
                pass
            case _:
                raise ValueError(f"{kind} is not known")
    return found


def _letters(members: Any) -> str:
    """The characters of a set; of one that says what it is not, letters and digits."""
    letters = ""
    for kind, value in members:
        match kind:
            case kinds.NEGATE:
                return _SOME
            case kinds.LITERAL:
                letters += chr(value)
            case kinds.RANGE:
                letters += "".join(map(chr, range(value[0], value[1] + 1)))
            case kinds.CATEGORY:
                letters += _CATEGORIES[value]
    return letters
