"""What the services of both OpenAI wires refuse in a JSON Schema: of a function, and where it is strict.

Sources: the vendor's guide (Structured Outputs, Supported schemas), and the words of refusals that users quote. A
keyword that the guide does not name, and that no recorded request was refused for, is let through: ``default``, for
one, was once refused and is accepted today.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Context = tuple[str, ...]

_NOT_AT_THE_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
_NOT_PERMITTED = (
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "uniqueItems",
)
"""The keywords that no part of a strict schema may have."""
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
)
"""The formats of text that a strict schema may ask for; those of numbers are let through."""
_TYPED = frozenset({"type", "anyOf", "$ref", "enum", "const"})
"""The keywords of which a strict schema has one, so that it says what a value is."""


def of_function(parameters: dict[str, Any]) -> str:
    """What keeps a schema from being that of a function's parameters, strict or not; nothing if it is one."""
    if parameters.get("type") != "object":
        return f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{parameters.get("type")}"'."""
    if "properties" not in parameters:
        return "In context=(), object schema missing properties."
    if any(keyword in parameters for keyword in _NOT_AT_THE_TOP):
        listed = "/".join(f"'{keyword}'" for keyword in _NOT_AT_THE_TOP)
        return f"schema must have type 'object' and not have {listed} at the top level."
    for context, schema in _parts(parameters):
        if isinstance(schema, dict) and schema.get("type") == "array" and "items" not in schema:
            return f"In context={context}, array schema missing items."
    return ""


def strict(schema: dict[str, Any], *, open_top: bool = False) -> str:
    """What keeps a schema from being a strict one, at any depth; nothing if it is one.

    ``open_top``: the service takes one whose top says nothing of additional properties.
    """
    faults = (_fault(part, context, open_top=open_top and not context) for context, part in _parts(schema))
    return next(filter(None, faults), "")


def strict_output(schema: dict[str, Any], *, open_top: bool = False) -> str:
    """The same of the schema of an output, which has to be that of an object."""
    if schema.get("type") != "object":
        return f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{schema.get("type")}"'."""
    return strict(schema, open_top=open_top)


def _parts(top: Any) -> Iterator[tuple[Context, Any]]:
    """A schema and all schemas in it, each with the way to it, those in front first."""
    waiting: list[tuple[Context, Any]] = [((), top)]
    while waiting:
        context, schema = waiting.pop()
        yield context, schema
        if isinstance(schema, dict):
            waiting += reversed([((*context, *step), part) for step, part in _inner(schema)])


def _inner(schema: dict[str, Any]) -> Iterator[tuple[Context, Any]]:
    """The schemas right in one, each with the step to it."""
    for keyword in ("properties", "$defs", "definitions"):
        members = schema.get(keyword)
        for name, part in members.items() if isinstance(members, dict) else ():
            yield (keyword, name), part
    if "items" in schema:
        yield ("items",), schema["items"]
    choices = schema.get("anyOf")
    for place, part in enumerate(choices if isinstance(choices, list) else ()):
        yield ("anyOf", str(place)), part


def _fault(schema: Any, context: Context, *, open_top: bool) -> str:
    """What is wrong with one schema, but for those in it."""
    where = f"In context={context}, "
    if not isinstance(schema, dict) or not _TYPED & schema.keys():
        return f"{where}schema must have a 'type' key."
    if "$ref" in schema and len(schema) > 1:
        others = ", ".join(f"'{keyword}'" for keyword in schema if keyword != "$ref")
        return f"{where}$ref cannot have keywords {{{others}}}."
    for keyword in _NOT_PERMITTED:
        if keyword in schema:
            return f"{where}'{keyword}' is not permitted."
    kinds = schema.get("type")
    types = kinds if isinstance(kinds, list) else [kinds]
    if "string" in types and "format" in schema and str(schema["format"]) not in _FORMATS:
        return f"{where}'{schema['format']}' is not a valid format."
    if "array" in types and "items" not in schema:
        return f"{where}array schema missing items."
    if "object" in types or "properties" in schema:
        return _open_end(schema, where, open_top=open_top)
    return ""


def _open_end(schema: dict[str, Any], where: str, *, open_top: bool) -> str:
    """What leaves open which members an object has."""
    if schema.get("additionalProperties", False if open_top else None) is not False:
        return f"{where}'additionalProperties' is required to be supplied and to be false."
    properties, required = schema.get("properties"), schema.get("required")
    named = required if isinstance(required, list) else []
    missing = [name for name in properties if name not in named] if isinstance(properties, dict) else []
    if not missing:
        return ""
    return (
        f"{where}'required' is required to be supplied and to be an array including every key in properties. "
        f"Missing '{missing[0]}'."
    )
