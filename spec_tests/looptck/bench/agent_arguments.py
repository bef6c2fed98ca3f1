"""Arguments of a call on another agent: a text, or an agent's name, wherever a parameter's schema has room for it."""

from __future__ import annotations

from collections.abc import Mapping
from re import Pattern
from typing import Any

from looptck.bench.offers import definition

_BLANK: Mapping[str, Any] = {"string": "as asked", "array": [], "boolean": False, "null": None}
_DEEP = 5
"""How deep a text may lie; a schema may refer to itself."""

Schema = Mapping[str, Any]


def parts_of(schema: Any, root: Any) -> dict[str, Schema]:
    """The members of an object by name, with their definitions in place of references."""
    found = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return {name: _plain(one, root) for name, one in found.items() if isinstance(one, dict)}


def takes_text(schema: Schema, root: Any) -> bool:
    """Whether it takes a text, or a list of texts."""
    return any("string" in _types(one) or "string" in _types(_items(one, root)) for one in _options(schema, root))


def with_text(schema: Schema, root: Any, text: str, fits: Pattern[str], depth: int = 0) -> Any:
    """A value with this text in it: the text, or a list or an object that has it; None: there is no room for one.

    Args:
        schema: What the value has to fit.
        root: The schema in which references are looked up.
        text: The text.
        fits: The names of members of an object that are meant for it.
        depth: How deep it lies.
    """
    for one in [] if depth > _DEEP else _options(schema, root):
        if _values(one):
            continue
        if "string" in _types(one):
            return text
        if (inner := with_text(_items(one, root), root, text, fits, depth + 1)) is not None:
            return [inner]
        parts = parts_of(one, root)
        for name in sorted(parts, key=lambda name: fits.search(name) is None):
            if (inner := with_text(parts[name], root, text, fits, depth + 1)) is not None:
                return blank(one, root) | {name: inner}
    return None


def named_in(schema: Schema, root: Any, agent: str) -> Any:
    """The value of an enumeration that names the agent, alone or in a list; None: it is not among them."""
    for one in _options(schema, root):
        for value in _values(one):
            if agent in str(value).lower():
                return value
        for value in _values(_items(one, root)):
            if agent in str(value).lower():
                return [value]
    return None


def among(schema: Schema, root: Any, agent: str) -> Any:
    """The agent's name, in a list if it takes no text."""
    return agent if any("string" in _types(one) for one in _options(schema, root)) else [agent]


def blank(schema: Schema, root: Any, depth: int = 0) -> Any:
    """A value for a parameter that means nothing here."""
    for one in _options(schema, root):
        if values := _values(one):
            return values[0]
        parts = parts_of(one, root)
        if parts or "object" in _types(one):
            wanted = [name for name in one.get("required", ()) if name in parts] if depth < _DEEP else []
            return {name: blank(parts[name], root, depth + 1) for name in wanted}
        for type in _types(one):
            if type in _BLANK:
                return _BLANK[type]
    return 0


def _options(schema: Schema, root: Any) -> list[Schema]:
    """The schemas of which a value has to fit one."""
    inner = [one for key in ("anyOf", "oneOf") for one in schema.get(key, ()) if isinstance(one, dict)]
    return [found for one in inner for found in _options(_plain(one, root), root)] or [schema]


def _plain(schema: Schema, root: Any) -> Schema:
    return definition(schema["$ref"], root) if "$ref" in schema else schema


def _items(schema: Schema, root: Any) -> Schema:
    found = schema.get("items")
    return _plain(found, root) if isinstance(found, dict) else {}


def _types(schema: Schema) -> list[str]:
    said = schema.get("type", [])
    return [said] if isinstance(said, str) else list(said)


def _values(schema: Schema) -> list[Any]:
    return [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
