"""Messages like the service's for a schema fault in a request."""

from __future__ import annotations

from typing import Any

from looptck.wires.openai_words import WORDS, listed, param, sized, type_of, types, wrong_type
from looptck.wires.schema_rules import Fault, Path, pointer, value_at

_INTEGERS = {"n", "max_tokens", "max_completion_tokens", "top_logprobs"}


def message_for(body: dict[str, Any], path: Path, fault: Fault) -> tuple[str, str | None]:
    """The service's message and error code for a schema fault."""
    keyword, wanted = fault.keyword, fault.wanted
    name = param(pointer(path))
    value = value_at(body, path)
    if path == ("model",) and not value:
        return "you must provide a model parameter", None
    if keyword == "enum":
        return _outside(body, path, value, wanted)
    if keyword == "type":
        return wrong_type(name, types(wanted), type_of(value))
    number = "integer" if path[-1] in _INTEGERS else "decimal"
    words, code = WORDS[keyword]
    message = words.format(name=name, wanted=wanted, value=value, size=sized(value), number=number)
    return message, code.format(number=number)


def _outside(body: dict[str, Any], path: Path, value: Any, options: list[Any]) -> tuple[str, str]:
    if not isinstance(value, str):
        return wrong_type(param(pointer(path)), f"one of {listed(options, 'or')}", type_of(value))
    if value == "image_url" and path[0] == "messages":
        role = value_at(body, (*path[:2], "role"))
        words = (
            f"Invalid 'messages[{path[1]}]'. Image URLs are only allowed for messages with role 'user', but this "
            f"message with role '{role}' contains an image URL."
        )
        return words, "invalid_value"
    return f"Invalid value: '{value}'. Supported values are: {listed(options, 'and')}.", "invalid_value"
