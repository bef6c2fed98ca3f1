"""Messages like the service's for a schema fault in a request, and its notation of a place."""

from __future__ import annotations

from typing import Any

from looptck.wires.schema_rules import Fault, Path, value_at

_A = {
    "string": "a valid string",
    "integer": "a valid integer",
    "number": "a valid number",
    "boolean": "a valid boolean",
    "object": "a valid dictionary",
    "array": "a valid list",
}

_WORDS = {
    "required": "Field required",
    "unknown": "Extra inputs are not permitted",
    "type": "Input should be {wanted}",
    "enum": "Input should be {wanted}",
    "pattern": "String should match pattern '{wanted}'",
    "minLength": "String should have at least {wanted} character",
    "maxLength": "String should have at most {wanted} characters",
    "maxItems": "List should have at most {wanted} items",
    "minimum": "Input should be greater than or equal to {wanted}",
    "maximum": "Input should be less than or equal to {wanted}",
}
"""The message for each keyword of the schema."""

_TAG = "Input tag '{}' found using 'type' does not match any of the expected tags: {}"


def message_for(body: dict[str, Any], path: Path, fault: Fault) -> str:
    """The service's message for a schema fault."""
    if path == ("messages",) and fault.keyword == "minItems":
        return "messages: at least one message is required"
    if path[-1] == "text" and fault.keyword == "minLength":
        return f"{path[0]}: text content blocks must be non-empty"
    if path[-1] == "type" and fault.keyword in ("enum", "pattern") and isinstance(path[-2], int):
        value = value_at(body, path)
        expected = _listed(fault.wanted, ", ") if fault.keyword == "enum" else "'custom', 'web_search_20260318', …"
        return f"{place_name(body, path[:-1])}: {_TAG.format(value, expected)}"
    if fault == Fault("type", ["object"]) and path[-1] != "input":
        return f"{place_name(body, path)}: Input does not match the expected shape."
    return f"{place_name(body, path)}: {_WORDS[fault.keyword].format(wanted=_wanted(fault))}"


def place_name(body: dict[str, Any], path: Path) -> str:
    """A place in the service's notation, with the kind of each block and tool before its members.

    For example ``messages.1.content.0.tool_use.input`` and ``tools.0.custom.name``.
    """
    steps: list[str] = []
    for at, step in enumerate(path):
        if steps and isinstance(path[at - 1], int) and path[at - 2] in ("content", "tools"):
            steps.append(_kind(value_at(body, path[:at]), "custom" if path[at - 2] == "tools" else ""))
        steps.append(str(step))
    return ".".join(filter(None, steps))


def _kind(value: Any, otherwise: str) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else otherwise


def _wanted(fault: Fault) -> Any:
    if fault.keyword == "type":
        kinds = [fault.wanted] if isinstance(fault.wanted, str) else fault.wanted
        return " or ".join(words for kind, words in _A.items() if kind in kinds)
    return _listed(fault.wanted, " or ") if fault.keyword == "enum" else fault.wanted


def _listed(options: list[Any], last: str) -> str:
    words = [f"'{option}'" for option in options if option is not None]
    *some, end = words
    return f"{', '.join(some)}{last}{end}" if some else end
