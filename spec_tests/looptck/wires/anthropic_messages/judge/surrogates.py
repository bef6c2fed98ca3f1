"""The rule on halves of surrogate pairs, which a JSON string can escape and which are no characters.

The service's parser refuses them (anthropics/claude-code#3277, #6199 and many more), before it looks at anything else.
A loop makes one where it cuts a text in the middle of a pair. That OpenAI refuses them too is said by one user alone
(opencode#14630), so that its judges let them be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from looptck.values.problem import Problem
from looptck.wires.schema_rules import Path, pointer

RULES = {"surrogates-come-in-pairs": "No string has half of a surrogate pair without its other half."}

_FIRST_LOW = "\udc00"
_HINT = "a text was cut in the middle of a character that JSON escapes as a pair, such as an emoji"


def problems(body: Any) -> list[Problem]:
    """The problem of the first string with half of a pair; names of members are the schema's matter."""
    if _is_text(body):
        return []
    for path, text in _strings(body):
        half = next((sign for sign in text if "\ud800" <= sign <= "\udfff"), None)
        if half is not None:
            why = "no low surrogate in string" if half < _FIRST_LOW else "invalid high surrogate in string"
            message = f"The request body is not valid JSON: {why}"
            return [Problem("surrogates-come-in-pairs", pointer(path), message, hint=_HINT)]
    return []


def _is_text(body: Any) -> bool:
    """Whether a JSON value can be written in UTF-8."""
    try:
        orjson.dumps(body)
    except TypeError:  # a half of a pair, or an integer or a depth that orjson does not write
        try:
            json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return False
        except (RecursionError, ValueError):
            return True
    return True


def _strings(top: Any) -> Iterator[tuple[Path, str]]:
    """The strings in a JSON value, each with its place, in order."""
    waiting: list[tuple[Path, Any]] = [((), top)]
    while waiting:
        path, value = waiting.pop()
        match value:
            case str():
                yield path, value
            case dict():
                waiting += reversed([((*path, name), inner) for name, inner in value.items()])
            case list():
                waiting += reversed([((*path, place), inner) for place, inner in enumerate(value)])
