"""Whether the schema that a loop offers for a tool is equivalent to the declared one.

SDKs rewrite schemas: they close objects, add titles, refer to definitions, and for strict mode make optional members
nullable and required. Apart from strict mode, none of that changes which calls are valid.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from looptck.values.jsontext import canonical
from looptck.values.plain import plain

Schema = Mapping[str, Any]

NO_PARAMETERS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
"""The parameters of a function without a schema (OpenAI's API reference, Chat Completions, ``parameters``)."""


def differences(declared: Schema, offered: Any, *, strict: bool = False) -> list[str]:
    """The differences between the offered and the declared schema, each with its place; empty if they are equivalent.

    ``strict``: the service enforces the schema, so every member may be required.
    """
    offered = NO_PARAMETERS if offered is None else offered
    return list(_differences(declared, offered, offered if isinstance(offered, dict) else {}, "", strict=strict))


def own_members(declared: Iterable[Schema], offered: Iterable[Any]) -> frozenset[str]:
    """The parameters that a loop adds to all of these tools alike and says what they are for: a reason, a next step.

    It asks the model for them and keeps them, so no tool gets them.
    """
    shown = [one["properties"] if _has_members(one) else {} for one in offered]
    taken = {name for one in declared for name in one.get("properties", {})}
    first = shown[0] if shown else {}
    return frozenset(
        name
        for name, one in first.items()
        if name not in taken
        and isinstance(one, dict)
        and one.get("description")
        and all(canonical(one) == canonical(other.get(name)) for other in shown)
    )


def without(offered: Any, names: Collection[str]) -> Any:
    """The offered schema without these members of its own level."""
    if not names or not _has_members(offered):
        return offered
    required = [name for name in offered.get("required") or () if name not in names]
    return {
        **offered,
        "properties": {name: one for name, one in offered["properties"].items() if name not in names},
        "required": required,
    }


def _has_members(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("properties"), dict)


def described_otherwise(declared: Schema, offered: Any, told: str = "") -> list[str]:
    """The parameters, at any depth, whose description is missing in the offered schema.

    ``told``: the description of the tool, where one parameter may be described by its name and the words for it.
    """
    root = offered if isinstance(offered, dict) else {}
    return [
        f"{place}: described as {text!r}, not as {wanted!r}"
        for place, wanted, text in _descriptions(declared, offered, root, "")
        if wanted.strip() not in text and not _tells(told, place.rpartition("/")[2], wanted)
    ]


def _tells(told: str, name: str, wanted: str) -> bool:
    """Whether a description of a tool has a line for this parameter that says what it is."""
    words = " ".join(wanted.split())
    return any(re.search(rf"\b{re.escape(name)}\b[^\n]*{re.escape(words)}", line) for line in told.splitlines())


def _differences(declared: Schema, offered: Any, root: Schema, place: str, *, strict: bool) -> Iterator[str]:
    shown, _ = _plain(offered, root)
    where = place or "the parameters"
    if not isinstance(shown, dict):
        yield f"{where}: offered as {plain(shown)}"
        return
    if "enum" in declared:
        words = sorted(canonical(one) for one in declared["enum"])
        if words != sorted(canonical(one) for one in _choices(shown)):
            yield f"{where}: declared as one of {plain(declared['enum'])}, offered as {plain(shown)}"
    elif declared.get("type") != shown.get("type"):
        yield f"{where}: declared as {declared.get('type')}, offered as {plain(shown)}"
        return
    yield from _members(declared, shown, root, place, strict=strict)
    if "items" in declared:
        yield from _differences(declared["items"], shown.get("items", {}), root, f"{place}/items", strict=strict)


def _members(declared: Schema, shown: Schema, root: Schema, place: str, *, strict: bool) -> Iterator[str]:
    """The differences between the members of an object."""
    known, there = declared.get("properties", {}), shown.get("properties") or {}
    if sorted(known) != sorted(there):
        names, offered = plain(sorted(known)), plain(sorted(there))
        yield f"{place or 'the parameters'}: declared with the members {names}, offered with {offered}"
        return
    required, asked = set(declared.get("required", ())), set(shown.get("required") or ())
    closed = shown.get("additionalProperties") is False
    if declared.get("additionalProperties") is True and closed:
        yield f"{place or 'the parameters'}: declared open to any member, offered as closed"
    for name, one in known.items():
        if name in required and name not in asked:
            yield f"{place}/{name}: required, but offered as optional"
        _, nullable = _plain(there[name], root)
        if name not in required and name in asked and not (nullable or strict or closed):
            yield f"{place}/{name}: optional, but offered as required"
        yield from _differences(one, there[name], root, f"{place}/{name}", strict=strict)


def _plain(schema: Any, root: Schema) -> tuple[Any, bool]:
    """A schema without references, single alternatives and null, and whether null was among its alternatives."""
    nullable = False
    for _ in range(20):
        if not isinstance(schema, dict):
            break
        if isinstance(schema.get("$ref"), str):
            schema = {**definition(schema["$ref"], root), **{key: one for key, one in schema.items() if key != "$ref"}}
            continue
        choices = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)), None)
        if choices is not None:
            left = [one for one in choices if not (isinstance(one, dict) and one.get("type") == "null")]
            nullable = nullable or len(left) < len(choices)
            if len(left) != 1 or not isinstance(left[0], dict):
                break
            rest = {key: one for key, one in schema.items() if key not in {"anyOf", "oneOf", "allOf"}}
            schema = {**left[0], **rest}
            continue
        types = schema.get("type")
        if isinstance(types, list):
            left = [one for one in types if one != "null"]
            nullable = nullable or len(left) < len(types)
            schema = {**schema, "type": left[0] if len(left) == 1 else left}
        break
    return schema, nullable


def _choices(shown: Schema) -> list[Any]:
    """The values of an enumeration, however it is written."""
    if "const" in shown:
        return [shown["const"]]
    for key in ("anyOf", "oneOf"):
        if isinstance(shown.get(key), list):
            return [value for one in shown[key] if isinstance(one, dict) for value in _choices(one)]
    return [value for value in shown.get("enum", ()) if value is not None]


def definition(reference: str, root: Schema) -> Schema:
    """The definition within a schema that a reference names; empty if there is none."""
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _descriptions(declared: Schema, offered: Any, root: Schema, place: str) -> Iterator[tuple[str, str, str]]:
    """Place, declared and offered description of each parameter that has one."""
    shown, _ = _plain(offered, root)
    there = shown.get("properties") or {} if isinstance(shown, dict) else {}
    for name, one in declared.get("properties", {}).items():
        plain, _ = _plain(there.get(name, {}), root)
        outer = there.get(name)
        texts = [part.get("description") for part in (plain, outer) if isinstance(part, dict)]
        if "description" in one:
            yield f"{place}/{name}", one["description"], " ".join(text for text in texts if isinstance(text, str))
        yield from _descriptions(one, there.get(name, {}), root, f"{place}/{name}")
    if "items" in declared:
        items = shown.get("items", {}) if isinstance(shown, dict) else {}
        yield from _descriptions(declared["items"], items, root, f"{place}/items")
