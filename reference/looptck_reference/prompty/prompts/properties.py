"""Inputs of prompts and parameters of tools, and the JSON Schema of both.

The documents have two forms: a list of entries with a name, and a mapping, which the guide puts under `properties:`.
Both are accepted everywhere. A bare value in place of an entry is its default and determines its kind (the later
runtime specification, §2.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from looptck_reference.prompty.prompts.errors import Fault, below
from looptck_reference.vocabulary.values import Json

__all__ = ["Input", "named", "properties", "schema"]


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a prompt, or a parameter of a tool; the documents call both properties.

    `default` is None if there is none; a null default counts as none (later specification, §12.2). `required` is None
    if the file has no such member.
    """

    name: str
    default: Any
    required: bool | None
    schema: Mapping[str, Any]


def named(entries: Any, pointer: str) -> dict[str, tuple[Any, str]]:
    """Entries and their JSON pointers by name: from a mapping, or from a list of entries with a `name`.

    Raises:
        Fault: two entries have the same name.
    """
    if isinstance(entries, dict):
        return {name: (one, below(pointer, name)) for name, one in entries.items() if one is not None}
    found: dict[str, tuple[Any, str]] = {}
    for index, one in enumerate(entries or ()):
        place = below(pointer, index)
        if one["name"] in found:
            raise Fault(place, f"has the name {one['name']!r}, as {found[one['name']][1]} has; names must be unique")
        found[one["name"]] = one, place
    return found


def properties(declared: Any, pointer: str) -> tuple[Input, ...]:
    """The properties in a list or mapping; empty if there is neither."""
    if isinstance(declared, dict) and "properties" in declared:
        return properties(declared["properties"], below(pointer, "properties"))
    return tuple(_input(name, *entry) for name, entry in named(declared, pointer).items())


def schema(declared: Iterable[Input], *, required: Iterable[str]) -> Json:
    """The JSON Schema of an object with these properties."""
    return {
        "type": "object",
        "properties": {one.name: dict(one.schema) for one in declared},
        "required": list(required),
    }


def _input(name: str, entry: Any, pointer: str) -> Input:
    said = entry if isinstance(entry, dict) else {"kind": _kind_of(entry), "default": entry}
    return Input(name, said.get("default"), said.get("required"), _schema(said, pointer))


def _schema(said: Json, pointer: str) -> Json:
    """The schema of one value. OpenAI refuses arrays without `items`."""
    made: Json = {"type": {"float": "number"}.get(said["kind"], said["kind"])}
    enum = said.get("enum") or said.get("enumValues")
    more = {"description": said.get("description") or None, "enum": enum or None, "default": said.get("default")}
    made |= {name: value for name, value in more.items() if value is not None}
    if said["kind"] == "array":
        items = said.get("items")
        made["items"] = {} if items is None else _schema(items, below(pointer, "items"))
    if said["kind"] == "object":
        inner = properties(said.get("properties"), below(pointer, "properties"))
        made |= schema(inner, required=[one.name for one in inner if one.required])
    return made


def _kind_of(value: Any) -> str:
    return {bool: "boolean", int: "integer", float: "float", list: "array"}.get(type(value), "string")
