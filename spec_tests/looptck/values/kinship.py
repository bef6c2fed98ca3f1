"""Kinship: in what known way a value differs from the expected one, such as a text that came twice."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from unicodedata import normalize

FEWEST = 3
"""The fewest characters of a text of which it is said that it is there several times: ``aa`` may be a word."""

MOST = 1000
"""The most items of a list whose order is compared."""


def kinship(expected: object, got: object) -> str:
    """How a value is made of the expected one, in words; of two that differ in one member alone, how those differ.

    Empty if it is nothing known.
    """
    if isinstance(expected, str) and isinstance(got, str):
        return _of_texts(expected, got)
    if isinstance(got, str):
        return "the same as a text of JSON" if isinstance(expected, Mapping | list) and _read(got) == expected else ""
    if isinstance(expected, str) and isinstance(got, Mapping | list):
        return "what the text says as JSON" if _read(expected) == got else ""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        differing = [key for key in expected if key in got and expected[key] != got[key]]
        alone = len(differing) == 1 and expected.keys() == got.keys()
        return kinship(expected[differing[0]], got[differing[0]]) if alone else ""
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return _of_lists(expected, got)
    return ""


def _of_texts(expected: str, got: str) -> str:
    if len(expected) >= FEWEST and (often := _multiple(expected, got)):
        return f"the same {often}"
    return next((words for words, made in _OTHERWISE.items() if got != expected and made(expected) == got), "")


_OTHERWISE: Mapping[str, Callable[[str], str]] = {
    "the same in quotes": json.dumps,
    "the same without the blanks at its end": str.rstrip,
    "the same without the blanks at its beginning": str.lstrip,
    "the same without the blanks at both ends": str.strip,
    "the same with its accents composed, as in the normal form NFC": partial(normalize, "NFC"),
    "the same with its accents apart, as in the normal form NFD": partial(normalize, "NFD"),
    "the same with other characters that look alike, as in the normal form NFKC": partial(normalize, "NFKC"),
    "the same without its characters beyond ASCII": lambda text: text.encode("ascii", "ignore").decode(),
    "the same as HTML": html.escape,
    "what the text says as HTML": html.unescape,
}
"""What loops make of a text, by the words that say so."""


def _of_lists(expected: Sequence[Any], got: Sequence[Any]) -> str:
    if not expected or not got:
        return ""
    if often := _multiple(expected, got):
        return f"the same {often}"
    if len(expected) == len(got):
        differing = [pair for pair in zip(expected, got, strict=True) if pair[0] != pair[1]]
        if len(differing) == 1:
            return kinship(*differing[0])
        same = bool(differing) and len(got) <= MOST and all(expected.count(one) == got.count(one) for one in expected)
        return "the same in another order" if same else ""
    return ""


def _multiple(one: Sequence[Any], other: Sequence[Any]) -> str:
    """How often one is in the other, which has nothing else; empty if not several times."""
    times, rest = divmod(len(other), len(one))
    if times < 2 or rest or any(other[at : at + len(one)] != one for at in range(0, len(other), len(one))):
        return ""
    return "twice" if times == 2 else f"{times} times"


def _read(text: str) -> object:
    """What a text of JSON says; nothing that equals it if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return object()
