"""JSON as the provider writes and reads it, and the canonical form for comparing two JSON values."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson


def compact(value: Any) -> bytes:
    """The JSON of a value without white space.

    ``json`` writes what orjson cannot: integers over 64 bits, and halves of surrogate pairs. A value with such a half
    is written in ASCII, since UTF-8 has no form for it.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def canonical(value: Any) -> str:
    """The canonical text of a JSON value: two values are equal if their canonical texts are.

    JSON has one type of number (RFC 8259, section 6), which software reads as a double: ``2e2`` is 200, ``1.0`` is 1,
    ``-0.0`` is 0, and integers that no double can tell apart are the same. The order of members does not count. True is
    not 1.
    """
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True)


def plain(value: Any) -> Any:
    """A JSON value whose numbers are doubles, those that are whole written as integers."""
    match value:
        case bool():
            return value
        case int() | float():
            return _number(value)
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
        case _:
            return value


def _number(value: float) -> float:
    try:
        double = float(value)
    except OverflowError:
        double = math.inf if value > 0 else -math.inf
    return int(double) if double.is_integer() else double


def parsed(body: bytes) -> Any:
    """The JSON value of a body; None if it is not JSON, which every judge refuses."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
