"""Messages like the service's for a schema fault in a request.

As observed in the service's replies, lists have special names, a null at the top level counts as an object, and an
unknown type or role is a fault of the item and not of its member.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looptck.wires.openai_words import WORDS, listed, param, sized, type_of, types, wrong_type
from looptck.wires.schema_rules import Fault, Path, pointer, value_at

_PLACES = {
    "input": "one of a string or array of input items",
    "input/*": "an input item",
    "input/*/content": "one of an array of objects or string",
    "input/*/output": "one of an array of objects or string",
    "tools": "an array of tools",
    "tool_choice": "one of an object or 'none', 'auto', or 'required'",
    "metadata": "a metadata object",
}
"""The expected values at places with a special message."""
_ROLES = ("assistant", "system", "developer", "user")
_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text", "refusal", "summary_text"})
_UNNAMED = frozenset({"configuration_update", "x_unknown"})
"""Item types that the service accepts but does not list as supported."""
_DECIMALS = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})

_TOO_MANY = (
    "Invalid '{name}': too many properties. Expected an object with at most {wanted} properties, but got an object "
    "with {size} properties instead."
)
_WORDS = {**WORDS, "maxProperties": (_TOO_MANY, "object_above_max_properties")}
"""Message and error code for each schema keyword except ``enum`` and ``type``."""


def message_for(body: dict[str, Any], path: Path, fault: Fault) -> tuple[Path, str, str | None]:
    """The place at which the service reports a schema fault, its message and its error code."""
    place = "/".join("*" if isinstance(step, int) else step for step in path)
    value = value_at(body, path)
    name = param(pointer(path))
    if place in {"input/*/type", "input/*/role"}:
        return path[:-1], unsupported(value, _ROLES if place.endswith("role") else fault.wanted), "invalid_value"
    if fault.keyword == "type" or (fault.keyword == "enum" and not isinstance(value, str)):
        got = "an object" if value is None and len(path) == 1 else type_of(value)
        return path, *wrong_type(name, _PLACES.get(place) or _expected(fault), got)
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
    message = words.format(name=name, wanted=fault.wanted, value=value, size=sized(value), number=number)
    return path, message, code.format(number=number)


def unsupported(value: object, options: Iterable[str | None]) -> str:
    """The message for an unsupported value."""
    supported = listed((option for option in options if option not in _UNNAMED), "and")
    return f"Invalid value: '{value if isinstance(value, str) else ''}'. Supported values are: {supported}."


def _expected(fault: Fault) -> str:
    return f"one of {listed(fault.wanted, 'or')}" if fault.keyword == "enum" else types(fault.wanted)
