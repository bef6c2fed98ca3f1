"""The rule that the schema of a tool is a JSON Schema, which the service asks of each tool, strict or not.

The service names the draft, and not the place. Only the forms are refused here that users have seen refused: names of
types that there are not (zanetworker/mcp-docling#5, blurrah/mcp-graphql#14), bounds that are booleans (Dokploy/mcp#74,
homeassistant-ai/ha-mcp#2361) and items that are a list (hyperdxio/hyperdx#2925). Null counts as absent.
"""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires.anthropic_messages.judge.strict import parts

RULES = {
    "tool-schemas-are-json-schemas": "The schema of a tool is a JSON Schema of the draft 2020-12, at every depth.",
}

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_CHOICES = ("anyOf", "allOf", "oneOf")
_OTHERS = ("items", "additionalProperties")
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
        if any(map(_is_malformed, parts(tool.get("input_schema"), _CHOICES, _OTHERS)))
    ]


def _is_malformed(schema: dict[str, Any]) -> bool:
    """Whether a schema has a form that no schema has, apart from its subschemas."""
    kinds = schema.get("type", "object")
    named = kinds if isinstance(kinds, list) else [kinds]
    if any(isinstance(kind, str) and kind not in _TYPES for kind in named):
        return True
    bounds = (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
    return isinstance(schema.get("items"), list) or any(isinstance(bound, bool) for bound in bounds)
