"""What prompts take and what tools take: inputs and parameters, and the JSON Schema of both.

The documents write them in two ways: as a list of entries with a name, or as a mapping, in the guide below
`properties:`. Both are read wherever one may stand. A value in place of an entry is a default whose kind it shows (the
later runtime specification, §2.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from looptck_reference.prompts.fields import Field
from looptck_reference.values import Json

__all__ = ["Input", "properties", "schema"]

_TYPES = {
    "string": "string",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
"""Kinds, and what JSON Schema calls them."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input that a prompt declares, or a parameter of a tool: a property, to the documents.

    `default` is None where it has none: to the later specification (§12.2) a null default is none. `required` is None
    where the file does not say.
    """

    name: str
    kind: str
    description: str
    default: Any
    required: bool | None
    schema: Mapping[str, Any]
    line: int


def properties(field: Field | None) -> tuple[Input, ...]:
    """What a list or mapping of properties declares; nothing where there is none."""
    if field is None:
        return ()
    if isinstance(field.value, Mapping) and "properties" in field.value:
        return properties(field.get("properties"))
    return tuple(_declared(name, entry) for name, entry in field.named().items())


def schema(declared: Iterable[Input], *, required: Iterable[str]) -> Json:
    """The JSON Schema of an object with these properties."""
    return {
        "type": "object",
        "properties": {one.name: dict(one.schema) for one in declared},
        "required": list(required),
    }


def _declared(name: str, field: Field) -> Input:
    if not isinstance(field.value, Mapping):
        kind, default = _kind_of(field.value), field.plain()
        return Input(name, kind, "", default, None, {**_typed(kind), "default": default}, field.line)
    required, default = field.get("required"), field.get("default")
    return Input(
        name,
        _kind(field),
        field.optional_text("description"),
        None if default is None else default.plain(),
        None if required is None else required.flag(),
        _schema(field),
        field.line,
    )


def _schema(field: Field) -> Json:
    """The schema of one value."""
    said = _typed(_kind(field))
    if description := field.optional_text("description"):
        said["description"] = description
    for name in ("enum", "enumValues"):
        values = field.get(name)
        if values is not None and values.items():
            said["enum"] = values.plain()
    default, items = field.get("default"), field.get("items")
    if default is not None:
        said["default"] = default.plain()
    if "items" in said and items is not None:
        said["items"] = _schema(items)
    if "properties" in said:
        inner = properties(field.get("properties"))
        said |= schema(inner, required=[one.name for one in inner if one.required])
    return said


def _kind(field: Field) -> str:
    return field.need("kind").one_of(tuple(_TYPES))


def _typed(kind: str) -> Json:
    """The schema of a kind of which no more is said. OpenAI refuses arrays without `items`."""
    match kind:
        case "array":
            return {"type": "array", "items": {}}
        case "object":
            return schema((), required=())
        case _:
            return {"type": _TYPES[kind]}


def _kind_of(value: Any) -> str:
    if isinstance(value, tuple):
        return "array"
    return {bool: "boolean", int: "integer", float: "float"}.get(type(value), "string")
