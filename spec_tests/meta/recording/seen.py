"""What is to be seen of a secret in files and on a terminal, read by means that the recorder does not have.

A secret is seen in part where eight characters of what was drawn of it stand one after the other, in the text as it is
or as a reader would make it: of YAML, of JSON, of JSON in strings, of base64, of percent signs, of the strings of all
events of a stream put together.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import yaml

from meta.recording.planted import Planted

PART = 8
"""Characters of a secret that must not be seen one after the other."""
DEEPEST = 6
"""Levels of one text within another that are read."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")


def seen(secret: Planted, texts: set[str]) -> str:
    """``whole``, ``in part``, or ``""`` for not at all."""
    if any(secret.text in text for text in texts):
        return "whole"
    windows = {part[at : at + PART] for part in secret.random for at in range(max(len(part) - PART + 1, 1))}
    return "in part" if any(window in text for window in windows for text in texts) else ""


def of_file(text: str) -> set[str]:
    """All texts that a file of a recording may be read as."""
    return {text, *(each for value in _values(yaml.safe_load(text)) for each in readings(value))}


def readings(text: str, depth: int = DEEPEST) -> Iterator[str]:
    """A text, and what it may be read as."""
    yield text
    if not depth:
        return
    found = [unquote(text)] if "%" in text else []
    found += _decoded(text)
    found += _of_events(text)
    with contextlib.suppress(ValueError):
        found += _values(json.loads(text)) if text.lstrip()[:1] in ("{", "[", '"') else []
    for one in found:
        if one != text:
            yield from readings(one, depth - 1)


def _values(value: Any) -> list[str]:
    """The strings of a value, names of members among them, and all of a list put together."""
    match value:
        case str():
            return [value]
        case bytes():
            return [value.decode(errors="replace")]
        case dict():
            return [each for item in value.items() for one in item for each in _values(one)]
        case list():
            strings = [each for one in value for each in _values(one)]
            return [*strings, "".join(strings)]
    return []


def _decoded(text: str) -> list[str]:
    found = []
    for match in _BASE64.finditer(text):
        for at in range(4):  # what it is the end of may be something else
            word = match.group()[at:].rstrip("=").translate(str.maketrans("-_", "+/"))
            with contextlib.suppress(binascii.Error):
                found.append(base64.b64decode(word[: len(word) // 4 * 4]).decode(errors="replace"))
    return [one for one in found if sum(letter.isascii() and letter.isprintable() for letter in one) > 0.9 * len(one)]


def _of_events(text: str) -> list[str]:
    """The strings of the events of a stream, each path's put together, and all of one event."""
    found: dict[str, str] = defaultdict(str)
    for line in text.splitlines():
        if line.startswith("data:"):
            with contextlib.suppress(ValueError):
                _put(json.loads(line[5:]), "", found)
    return list(found.values())


def _put(value: Any, path: str, found: dict[str, str]) -> None:
    match value:
        case str():
            found[path] += value
        case dict():
            for name, one in value.items():
                found[f"{path}#"] += name
                _put(one, f"{path}/{name}", found)
        case list():
            for one in value:
                _put(one, f"{path}/*", found)
