"""The rules on schemas that the service compiles: those of strict tools, and of outputs.

Sources: Structured outputs, JSON Schema limitations; and the words of recorded and quoted refusals. Keywords of which
neither speaks are let through. The service has limits on the whole of it as well, and another one that depends on how
hard a grammar is to compile, which cannot be known from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from looptck.values.problem import Problem

RULES = {
    "strict-schemas-are-closed": (
        "A schema that is compiled forbids additional properties in each object, and has no keyword or reference that "
        "cannot be compiled."
    ),
    "strict-tools-are-few": (
        "No more than 20 tools are strict, and between them 24 parameters are optional and 16 of several types."
    ),
}

_MOST_TOOLS, _MOST_OPTIONAL, _MOST_UNIONS = 20, 24, 16
_UNSUPPORTED = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
}
"""By type: the keywords that bound its values."""
_DEFINITIONS = ("$defs", "definitions")


def problems(body: dict[str, Any]) -> list[Problem]:
    """The problems of each schema that the service compiles, then of all of them together."""
    tools = body.get("tools") or ()
    strict = [(place, tool["input_schema"]) for place, tool in enumerate(tools) if tool.get("strict")]
    found: list[Problem] = []
    for place, schema in strict:
        found += _problem(schema, f"tools.{place}.custom", f"/tools/{place}/input_schema")
    for member, wanted in (("output_config", body.get("output_config")), ("output_format", body)):
        format = (wanted or {}).get("format" if member == "output_config" else member)
        if format:
            name = "output_config.format" if member == "output_config" else member
            found += _problem(format["schema"], f"{name}.schema", f"/{name.replace('.', '/')}/schema")
    return found + list(_too_many([schema for _, schema in strict]))


def _problem(schema: dict[str, Any], where: str, pointer: str) -> list[Problem]:
    fault = next((fault for part in parts(schema) if (fault := _fault(part))), "") or _circle(schema)
    return [Problem("strict-schemas-are-closed", pointer, f"{where}: {fault}")] if fault else []


def parts(
    top: Any, choices: Sequence[str] = ("anyOf", "allOf"), others: Sequence[str] = ("items",)
) -> Iterator[dict[str, Any]]:
    """A schema and all object schemas in it, in order.

    Args:
        top: what stands for a schema, be it one or not.
        choices: the keywords of lists of schemas that are looked into.
        others: the keywords of single schemas that are looked into.
    """
    waiting = [top]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            yield schema
            waiting += reversed([*_inner(schema, choices, others)])


def _inner(schema: dict[str, Any], choices: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
    for keyword in ("properties", *_DEFINITIONS):
        yield from _members(schema, keyword).values()
    for keyword in others:
        yield schema.get(keyword)
    for keyword in choices:
        listed = schema.get(keyword)
        yield from listed if isinstance(listed, list) else ()


def _members(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}


def _fault(schema: dict[str, Any]) -> str:
    """What is wrong with one schema, apart from its subschemas."""
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        for keyword in _UNSUPPORTED.get(kind, ()) if isinstance(kind, str) else ():
            if keyword in schema:
                return f"For '{kind}' type, property '{keyword}' is not supported"
        if kind == "array" and schema.get("minItems", 0) not in (0, 1):
            return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if any(isinstance(part, bool) for part in _members(schema, "properties").values()):
        return "For 'object' type, property 'properties' is not supported"
    is_object = "properties" in schema or "object" in (kinds if isinstance(kinds, list) else [kinds])
    if is_object and schema.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    return ""


def _circle(schema: dict[str, Any]) -> str:
    """The problem of recursive definitions, in the service's words."""
    definitions = {
        f"#/{keyword}/{name}": (name, part)
        for keyword in _DEFINITIONS
        for name, part in _members(schema, keyword).items()
    }
    leads = {
        start: [part["$ref"] for part in parts(inner) if isinstance(part.get("$ref"), str)]
        for start, (_, inner) in definitions.items()
    }
    for start in definitions:
        way = _way_back(start, leads)
        if way:
            names = " -> ".join(definitions[step][0] for step in way)
            return (
                f"Invalid schema: Circular reference detected in schema definitions: {names}. Self-referencing or "
                "mutually-referencing definitions are not supported."
            )
    return ""


def _way_back(start: str, leads: dict[str, list[str]]) -> list[str]:
    """The path from a definition back to itself; empty if there is none."""
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        for there in leads.get(here, ()):
            if there == start:
                way = [there, here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return []


def _too_many(schemas: list[dict[str, Any]]) -> Iterator[Problem]:
    """The exceeded limits on all strict tools together. Only top-level parameters are counted."""
    parameters = [
        (part, name in (schema.get("required") or ()))
        for schema in schemas
        for name, part in _members(schema, "properties").items()
    ]
    optional = sum(not required for _, required in parameters)
    unions = sum(isinstance(part, dict) and _is_union(part) for part, _ in parameters)
    words = ""
    if len(schemas) > _MOST_TOOLS:
        words = (
            f"Too many strict tools ({len(schemas)}). The maximum number of strict tools supported is {_MOST_TOOLS}. "
            "Try reducing the number of tools marked as strict."
        )
    elif optional > _MOST_OPTIONAL:
        words = (
            f"Schemas contains too many optional parameters ({optional}), which would make grammar compilation "
            f"inefficient. Reduce the number of optional parameters in your tool schemas (limit: {_MOST_OPTIONAL})."
        )
    elif unions > _MOST_UNIONS:
        words = (
            f"Schemas contains too many parameters with union types ({unions} parameters with type arrays or anyOf). "
            "This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters "
            f"(limit: {_MOST_UNIONS} parameters with unions)."
        )
    if words:
        yield Problem("strict-tools-are-few", "/tools", words)


def _is_union(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("type"), list) or "anyOf" in schema
