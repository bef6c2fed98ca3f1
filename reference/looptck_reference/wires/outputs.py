"""The schema of the output, in the members of each wire's request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.values import Json

__all__ = ["chat_format", "messages_format", "responses_format"]

NAME = "output"
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} | {
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}  # fmt: skip
"""The keywords that Messages does not compile; the loop looks at the value itself."""


def chat_format(agent: Agent) -> Json:
    """The member of Chat Completions. The service is not asked for its strict mode, which takes few schemas."""
    if agent.output is None:
        return {}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": NAME, "schema": agent.output.wrapped}}}


def responses_format(agent: Agent) -> Json:
    """The member of Responses, without a level between."""
    if agent.output is None:
        return {}
    format = {"type": "json_schema", "name": NAME, "schema": agent.output.wrapped, "strict": False}
    return {"text": {"format": format}}


def messages_format(agent: Agent) -> Json:
    """The member of Messages, which compiles every schema."""
    if agent.output is None:
        return {}
    return {"output_config": {"format": {"type": "json_schema", "schema": _compiled(agent.output.wrapped)}}}


def _compiled(schema: Any) -> Any:
    """The schema with each object closed, and without bounds."""
    if isinstance(schema, list):
        return [_compiled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: one if name in ("enum", "const") else _compiled(one) for name, one in schema.items()}
    if isinstance(schema.get("properties"), dict):
        kept["properties"] = {name: _compiled(one) for name, one in schema["properties"].items()}
    if isinstance(schema.get("type"), str | list):
        kept = {name: one for name, one in kept.items() if name not in BOUNDS}
    return {**kept, "additionalProperties": False} if "object" in _types(schema) else kept


def _types(schema: Json) -> Any:
    """The types of a schema; a schema with properties is one of an object."""
    named = schema.get("type", "object" if "properties" in schema else ())
    return named if isinstance(named, list) else [named]
