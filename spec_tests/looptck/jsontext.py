"""JSON as the provider writes and reads it."""

from __future__ import annotations

import json
from typing import Any

import orjson


def compact(value: Any) -> bytes:
    """The JSON of a value without blanks. What orjson does not write (integers beyond 64 bits) the library does."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def parsed(body: bytes) -> Any:
    """The JSON of a body; None where it is none, which every judge refuses."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
