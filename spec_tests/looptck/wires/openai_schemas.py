"""What the services of both OpenAI wires refuse in the JSON Schema of a function, and in a strict schema.

Sources: the vendor's guide (Structured Outputs, Supported schemas), and refusals that users quote. A keyword is allowed
if the guide does not name it and no recorded request was refused for it: ``default``, for example, was once refused and
is accepted today. That a schema has the form of one is asked of the members that refusals name (openai-php/client#262,
OpenManus#1162, yomo#860, semantic-kernel#5545).
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
_KINDS = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
)
"""The string formats that a strict schema may use; formats of numbers are allowed."""
_TYPED = frozenset({"type", "anyOf", "$ref", "enum", "const"})
"""A strict schema needs one of these keywords, which define the type of a value."""


def of_function(parameters: dict[str, Any]) -> str:
    """Why a schema cannot be that of a function's parameters, strict or not; empty if it can."""
    if parameters.get("type") != "object":
        return f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{parameters.get("type")}"'."""
    if "properties" not in parameters:
        return "In context=(), object schema missing properties."
    if any(keyword in parameters for keyword in _NOT_AT_THE_TOP):
        listed = "/".join(f"'{keyword}'" for keyword in _NOT_AT_THE_TOP)
        return f"schema must have type 'object' and not have {listed} at the top level."
    parts = [*_parts(parameters)]
    if fault := next(filter(None, (_malformed(schema, context) for context, schema in parts)), ""):
        return fault
    for context, schema in parts:
        if isinstance(schema, dict) and schema.get("type") == "array" and "items" not in schema:
            return f"In context={context}, array schema missing items."
    return ""


def strict(schema: dict[str, Any], *, open_top: bool = False) -> str:
    """Why a schema is not strict, at any depth; empty if it is strict.

    ``open_top``: the service accepts a schema whose top level omits ``additionalProperties``.
    """
    faults = (_fault(part, context, open_top=open_top and not context) for context, part in _parts(schema))
    return next(filter(None, faults), "")


def strict_output(schema: dict[str, Any], *, open_top: bool = False) -> str:
    """Why a schema is not a strict output schema, which must be of type object; empty if it is."""
    if schema.get("type") != "object":
        return f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{schema.get("type")}"'."""
    return strict(schema, open_top=open_top)


def _malformed(schema: Any, context: Context) -> str:
    """Why a value is no JSON Schema, apart from its subschemas; empty if it is one, or the list of them of a tuple."""
    is_tuple = isinstance(schema, list) and bool(schema) and context[-1:] == ("items",)
    if is_tuple or isinstance(schema, bool):
        return ""
    if not isinstance(schema, dict):
        return f"{schema!r} is not of type 'object', 'boolean'."
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict):
        return f"{properties!r} is not of type 'object'."
    if not isinstance(required, list):
        return f"{required!r} is not of type 'array'."
    if odd := [name for name in required if not isinstance(name, str)]:
        return f"{odd[0]!r} is not of type 'string'."
    kind = schema.get("type", "object")
    if not all(isinstance(one, str) and one in _KINDS for one in (kind if isinstance(kind, list) and kind else [kind])):
        return f"{kind!r} is not valid under any of the given schemas."
    return ""


def _parts(top: Any) -> Iterator[tuple[Context, Any]]:
    """A schema and all schemas in it, each with its path, in order."""
    waiting: list[tuple[Context, Any]] = [((), top)]
    while waiting:
        context, schema = waiting.pop()
        yield context, schema
        if isinstance(schema, dict):
            waiting += reversed([((*context, *step), part) for step, part in _inner(schema)])


def _inner(schema: dict[str, Any]) -> Iterator[tuple[Context, Any]]:
    """The direct subschemas of a schema, each with the step to it."""
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
    """What is wrong with one schema, apart from its subschemas."""
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
    """What allows members of an object that it does not declare or require."""
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
