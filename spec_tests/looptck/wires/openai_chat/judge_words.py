"""The service's kind of words for a fault in a request's shape, and its way to name a place."""

from __future__ import annotations

from typing import Any

from looptck.wires.shape import Fault, Path, pointer, value_at

_A = {
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
_PAIR = 2
_INTEGERS = {"n", "max_tokens", "max_completion_tokens", "top_logprobs"}

_BOUND = "Invalid '{{name}}': {}. Expected {} {{wanted}}, but got {} instead."

_WORDS = {
    "required": ("Missing required parameter: '{name}'.", "missing_required_parameter"),
    "unknown": ("Unknown parameter: '{name}'.", "unknown_parameter"),
    "type": ("Invalid type for '{name}': expected {wanted}, but got {got} instead.", "invalid_type"),
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
"""Message and error code for each keyword of the schema but ``enum``."""


def param(place: str) -> str:
    """The place at a JSON pointer as the service names it, for example ``messages[3].content[0].type``."""
    name = ""
    for escaped in place.split("/")[1:]:
        step = escaped.replace("~1", "/").replace("~0", "~")
        name += f"[{step}]" if step.isdigit() else f".{step}" if name else step
    return name


def said(body: dict[str, Any], path: Path, fault: Fault) -> tuple[str, str | None]:
    """The service's message and error code for a fault in the shape."""
    keyword, wanted = fault.keyword, fault.wanted
    name = param(pointer(path))
    value = value_at(body, path)
    if path == ("model",) and not value:
        return "you must provide a model parameter", None
    if keyword == "enum":
        return _outside(body, path, value, wanted)
    number = "integer" if path[-1] in _INTEGERS else "decimal"
    words, code = _WORDS[keyword]
    terms = {
        "name": name,
        "wanted": _expected(wanted) if keyword == "type" else wanted,
        "got": _got(value),
        "value": value,
        "size": len(value) if isinstance(value, str | list | dict) else None,
        "number": number,
    }
    return words.format(**terms), code.format(number=number)


def _outside(body: dict[str, Any], path: Path, value: Any, options: list[Any]) -> tuple[str, str]:
    name = param(pointer(path))
    if not isinstance(value, str):
        expected = _listed(options, "or")
        return f"Invalid type for '{name}': expected one of {expected}, but got {_got(value)} instead.", "invalid_type"
    if value == "image_url" and path[0] == "messages":
        role = value_at(body, (*path[:2], "role"))
        words = (
            f"Invalid 'messages[{path[1]}]'. Image URLs are only allowed for messages with role 'user', but this "
            f"message with role '{role}' contains an image URL."
        )
        return words, "invalid_value"
    return f"Invalid value: '{value}'. Supported values are: {_listed(options, 'and')}.", "invalid_value"


def _expected(types: str | list[str]) -> str:
    """The types in words: of a union only the first keeps its article, and that null will do goes unsaid."""
    words = [word for kind, word in _A.items() if kind in ([types] if isinstance(types, str) else types)]
    if len(words) == 1:
        return words[0]
    return f"one of {words[0]} or {' or '.join(word.split(' ', 1)[1] for word in words[1:])}"


def _got(value: Any) -> str:
    return _GOT[type(value)]


def _listed(options: list[Any], last: str) -> str:
    words = [f"'{option}'" for option in options if option is not None]
    comma = "," if len(words) > _PAIR else ""
    return f"{comma} {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))
