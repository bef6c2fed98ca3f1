"""Structured results: whether the text that a model reads contains a value, as JSON or in another form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from looptck.values.history import leaves
from looptck.values.jsontext import canonical

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

_ERROR = re.compile(
    r"[\s*(\[]*(?:[\w.]*(?:error|exception)\b(?!\W+(?:none|null|nil|no|false|0)\b)|traceback\b)", re.IGNORECASE
)


def begins_as_error(text: str) -> bool:
    """Whether a text begins with the name of an error, and does not say that there is none.

    JSON begins with other signs, and so do other renderings of a value and their headings.
    """
    return _ERROR.match(text) is not None


def left_out(value: Any, text: str) -> list[str]:
    """The keys and leaves of a value that a text does not contain.

    A JSON text is parsed, so escapes and wrapping do not matter. Any other text must contain each key and leaf, either
    unchanged or as in JSON. Numbers are compared by value.
    """
    said = [text, *_decoded(text)]
    if any(canonical(value) == canonical(one) for one in _values(text)):
        return []
    return [leaf for leaf in leaves(value) if not any(_says(one, leaf) for one in said)]


def _says(text: str, leaf: str) -> bool:
    spellings = (leaf, *(json.dumps(leaf, ensure_ascii=escaped)[1:-1] for escaped in (False, True)))
    if any(one.lower() in text.lower() for one in spellings):
        return True
    return _NUMBER.fullmatch(leaf) is not None and any(float(leaf) == float(one) for one in _NUMBER.findall(text))


def _decoded(text: str) -> Iterator[str]:
    for value in _values(text):
        yield " ".join(leaves(value))


def _values(text: str) -> Iterator[Any]:
    """The JSON value of a text, if it is JSON."""
    try:
        yield json.loads(text)
    except ValueError:
        return
