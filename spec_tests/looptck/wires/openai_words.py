"""Messages that the judges of both OpenAI wires share: types, bounds, and the notation of a place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a decimal",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array of objects",
}
_GOT = {
    type(None): "null",
    str: "a string",
    int: "an integer",
    float: "a decimal number",
    bool: "a boolean",
    dict: "an object",
    list: "an array",
}

_BOUND = "Invalid '{{name}}': {}. Expected {} {{wanted}}, but got {} instead."

WORDS = {
    "required": ("Missing required parameter: '{name}'.", "missing_required_parameter"),
    "unknown": ("Unknown parameter: '{name}'.", "unknown_parameter"),
    "pattern": (
        "Invalid '{name}': string does not match pattern. Expected a string that matches the pattern '{wanted}'.",
        "invalid_value",
    ),
    "minItems": (_BOUND.format("empty array", "an array with minimum length", "an empty array"), "empty_array"),
    "minLength": (_BOUND.format("empty string", "a string with minimum length", "an empty string"), "empty_string"),
    "maxItems": (
        _BOUND.format("array too long", "an array with maximum length", "an array with length {size}"),
        "array_above_max_length",
    ),
    "maxLength": (
        _BOUND.format("string too long", "a string with maximum length", "a string with length {size}"),
        "string_above_max_length",
    ),
    "maxProperties": (
        _BOUND.format("too many properties", "an object with a maximum of", "an object with {size} properties"),
        "object_above_max_properties",
    ),
    "minimum": (_BOUND.format("{number} below minimum value", "a value >=", "{value}"), "{number}_below_min_value"),
    "maximum": (_BOUND.format("{number} above maximum value", "a value <=", "{value}"), "{number}_above_max_value"),
}
"""Message and error code for each schema keyword except ``enum`` and ``type``."""


def param(place: str) -> str:
    """The place at a JSON pointer as the service names it, for example ``messages[3].content[0].type``."""
    name = ""
    for escaped in place.split("/")[1:]:
        step = escaped.replace("~1", "/").replace("~0", "~")
        name += f"[{step}]" if step.isdigit() else f".{step}" if name else step
    return name


def wrong_type(name: str, wanted: str, got: str) -> tuple[str, str]:
    """Message and error code for a value of the wrong type; the types are given as text."""
    return f"Invalid type for '{name}': expected {wanted}, but got {got} instead.", "invalid_type"


def type_of(value: Any) -> str:
    """The type of a JSON value as text; NaN is none, but some encoders write it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN or an infinite number"
    return _GOT[type(value)]


def types(wanted: str | Sequence[str]) -> str:
    """The accepted types as text: in a union only the first has an article, and null is omitted."""
    kinds = [wanted] if isinstance(wanted, str) else wanted
    first, *others = (words for kind, words in _TYPES.items() if kind in kinds)
    return f"one of {first} or {' or '.join(words.split(' ', 1)[1] for words in others)}" if others else first


def listed(options: Iterable[str | None], last: str) -> str:
    """The options in quotes, with ``last`` (and, or) before the last one."""
    words = [f"'{option}'" for option in options if option is not None]
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])}{',' if len(words) > 2 else ''} {last} {words[-1]}"


def sized(value: Any) -> int | None:
    """The length that a message may contain."""
    return len(value) if isinstance(value, str | list | dict) else None
