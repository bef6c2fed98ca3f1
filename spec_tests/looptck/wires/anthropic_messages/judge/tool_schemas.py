"""The rule that the schema of a tool is a JSON Schema, which the service asks of each tool, strict or not.

The service names the draft, and not the place. Only the forms are refused here that users have seen refused: names of
types that there are not (zanetworker/mcp-docling#5, blurrah/mcp-graphql#14), bounds that are booleans (Dokploy/mcp#74,
homeassistant-ai/ha-mcp#2361) and items that are a list (hyperdxio/hyperdx#2925). Null counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looptck.values.problem import Problem

RULES = {
    "tool-schemas-are-json-schemas": "The schema of a tool is a JSON Schema of the draft 2020-12, at every depth.",
}

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_BY_NAME = ("properties", "$defs", "definitions")
_CHOICES = ("anyOf", "allOf", "oneOf")
_WORDS = (
    "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn "
    "more about tool use at https://docs.claude.com/en/docs/tool-use."
)


def problems(body: dict[str, Any]) -> list[Problem]:
    """The tools whose schema is no JSON Schema."""
    return [
        Problem(
            "tool-schemas-are-json-schemas",
            f"/tools/{place}/input_schema",
            f"tools.{place}.custom.input_schema: {_WORDS}",
        )
        for place, tool in enumerate(body.get("tools") or ())
        if any(map(_is_malformed, _parts(tool.get("input_schema"))))
    ]


def _parts(top: Any) -> Iterator[dict[str, Any]]:
    """A schema and all object schemas in it."""
    waiting = [top]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            yield schema
            waiting += _inner(schema)


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    for keyword in _BY_NAME:
        members = schema.get(keyword)
        yield from members.values() if isinstance(members, dict) else ()
    for keyword in _CHOICES:
        choices = schema.get(keyword)
        yield from choices if isinstance(choices, list) else ()
    yield schema.get("items")
    yield schema.get("additionalProperties")


def _is_malformed(schema: dict[str, Any]) -> bool:
    """Whether a schema has a form that no schema has, apart from its subschemas."""
    kinds = schema.get("type", "object")
    named = kinds if isinstance(kinds, list) else [kinds]
    if any(isinstance(kind, str) and kind not in _TYPES for kind in named):
        return True
    bounds = (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
    return isinstance(schema.get("items"), list) or any(isinstance(bound, bool) for bound in bounds)
