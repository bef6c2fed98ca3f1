"""The service's kind of words for a fault in a request's shape.

Lists have names of their own in them, a null at the top is an object, and an unknown kind or role is a fault of the
item, not of its member: so it was seen in the service's answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looptck.wires.openai_chat.judge_words import param
from looptck.wires.shape import Fault, Path, pointer, value_at

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a decimal",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array of objects",
}
_PLACES = {
    "input": "one of a string or array of input items",
    "input/*": "an input item",
    "input/*/content": "one of an array of objects or string",
    "input/*/output": "one of an array of objects or string",
    "tools": "an array of tools",
    "tool_choice": "one of an object or 'none', 'auto', or 'required'",
    "metadata": "a metadata object",
}
"""What is expected at a place that has words of its own for it."""
_GOT = {
    str: "a string",
    int: "an integer",
    float: "a decimal number",
    bool: "a boolean",
    dict: "an object",
    list: "an array",
}
_ROLES = ("assistant", "system", "developer", "user")
_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text", "refusal", "summary_text"})
_UNNAMED = frozenset({"configuration_update", "x_unknown"})
"""Kinds of items that are taken, but not named among those that are supported."""
_DECIMALS = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})

_BOUND = "Invalid '{{name}}': {}. Expected {} {{wanted}}, but got {} instead."
_TOO_MANY = (
    "Invalid '{name}': too many properties. Expected an object with at most {wanted} properties, but got an object "
    "with {size} properties instead."
)
_WORDS = {
    "required": ("Missing required parameter: '{name}'.", "missing_required_parameter"),
    "unknown": ("Unknown parameter: '{name}'.", "unknown_parameter"),
    "pattern": (
        "Invalid '{name}': string does not match pattern. Expected a string that matches the pattern '{wanted}'.",
        "invalid_value",
    ),
    "minLength": (_BOUND.format("empty string", "a string with minimum length", "an empty string"), "empty_string"),
    "maxLength": (
        _BOUND.format("string too long", "a string with maximum length", "a string with length {size}"),
        "string_above_max_length",
    ),
    "maxItems": (
        _BOUND.format("array too long", "an array with maximum length", "an array with length {size}"),
        "array_above_max_length",
    ),
    "maxProperties": (
        _TOO_MANY,
        "object_above_max_properties",
    ),
    "minimum": (_BOUND.format("{number} below minimum value", "a value >=", "{value}"), "{number}_below_min_value"),
    "maximum": (_BOUND.format("{number} above maximum value", "a value <=", "{value}"), "{number}_above_max_value"),
}
"""Message and error code for each keyword of the schema but ``enum`` and ``type``."""


def said(body: dict[str, Any], path: Path, fault: Fault) -> tuple[Path, str, str | None]:
    """Where the service sees a fault in the shape, its message, and its error code."""
    place = "/".join("*" if isinstance(step, int) else step for step in path)
    value = value_at(body, path)
    name = param(pointer(path))
    if place in {"input/*/type", "input/*/role"}:
        return path[:-1], unsupported(value, _ROLES if place.endswith("role") else fault.wanted), "invalid_value"
    if fault.keyword == "type" or (fault.keyword == "enum" and not isinstance(value, str)):
        got = "an object" if value is None and len(path) == 1 else _GOT.get(type(value), "null")
        expected = _PLACES.get(place) or _expected(fault)
        return path, f"Invalid type for '{name}': expected {expected}, but got {got} instead.", "invalid_type"
    if fault.keyword == "enum":
        misplaced = path[-1] == "type" and value in _PARTS  # a part that another list may have
        return path[:-1] if misplaced else path, unsupported(value, fault.wanted), "invalid_value"
    if place == "input/*/id" and fault.keyword == "pattern":
        message = f"Invalid '{name}': '{value}'. Expected an ID that begins with '{fault.wanted[1:]}'."
        return path, message, "invalid_value"
    if place == "model" and fault.keyword == "minLength":
        return path, "The requested model '' does not exist.", "model_not_found"
    words, code = _WORDS[fault.keyword]
    number = "decimal" if place in _DECIMALS else "integer"
    size = len(value) if isinstance(value, str | list | dict) else None
    message = words.format(name=name, wanted=fault.wanted, value=value, size=size, number=number)
    return path, message, code.format(number=number)


def unsupported(value: object, options: Iterable[str | None]) -> str:
    """The message for a word that is none of these."""
    supported = _listed((option for option in options if option not in _UNNAMED), "and")
    return f"Invalid value: '{value if isinstance(value, str) else ''}'. Supported values are: {supported}."


def _expected(fault: Fault) -> str:
    """What would do, in words: of a union only the first keeps its article, and that null will do goes unsaid."""
    if fault.keyword == "enum":
        return f"one of {_listed(fault.wanted, 'or')}"
    wanted = [fault.wanted] if isinstance(fault.wanted, str) else fault.wanted
    first, *others = (words for kind, words in _TYPES.items() if kind in wanted)
    return f"one of {first} or {' or '.join(words.split(' ', 1)[1] for words in others)}" if others else first


def _listed(options: Iterable[str | None], last: str) -> str:
    words = [f"'{option}'" for option in options if option is not None]
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])}{',' if len(words) > 2 else ''} {last} {words[-1]}"
