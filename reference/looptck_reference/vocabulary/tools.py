"""Tools: what the model is offered, how arguments are parsed, and how results become text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.values import Json

__all__ = ["Handler", "Tool", "bind", "json_text", "parse_arguments"]

Handler = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    `parameters` is the JSON Schema of its arguments. `bindings` maps a parameter to the name of an input of the agent,
    which overrides the model's value for that parameter. `strict` asks the provider to enforce the schema. `approval`
    means that no call runs before someone has approved it. `options` are specific to the tool's kind, for instance path
    and mode of a prompt. A tool without a handler is offered to the model too; its kind's handler then runs its calls,
    or they are a fault that the dialect deals with.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    handler: Handler | None = None
    kind: str = "function"
    bindings: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    approval: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def offered(self) -> Json:
        """The schema that the model is offered: without the bound parameters, which the model does not choose."""
        schema = unbound(self.parameters, self.bindings)
        return closed(schema) if self.strict else schema


def unbound(schema: Mapping[str, Any], bindings: Mapping[str, str]) -> Json:
    """A schema without the bound properties. It always has `properties`, because a provider refuses it without."""
    left = {**schema, "properties": schema.get("properties", {})}
    if bindings:
        left["properties"] = {name: one for name, one in schema.get("properties", {}).items() if name not in bindings}
        left["required"] = [name for name in schema.get("required", ()) if name not in bindings]
    return left


def closed(schema: Mapping[str, Any]) -> Json:
    """A schema in the form of the strict mode, including all nested objects: all properties required, no others."""
    shut = dict(schema)
    if "items" in shut:
        shut["items"] = closed(shut["items"])
    if "anyOf" in shut:
        shut["anyOf"] = [closed(one) for one in shut["anyOf"]]
    if "$defs" in shut:
        shut["$defs"] = {name: closed(one) for name, one in shut["$defs"].items()}
    if "properties" in shut:
        shut["properties"] = {name: closed(one) for name, one in shut["properties"].items()}
        shut |= {"required": list(shut["properties"]), "additionalProperties": False}
    return shut


def parse_arguments(text: str) -> Json:
    """The keyword arguments in a call's text.

    Models send an empty text for a tool without parameters, so blank text means no arguments. Any other text must be a
    JSON object: an incomplete object or a bare value is a fault and is never completed by guessing.

    Raises:
        BadArguments: the text is not a JSON object.
    """
    if not text or text.isspace():
        return {}
    try:
        arguments = json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        raise BadArguments(str(error)) from error
    if not isinstance(arguments, dict):
        raise BadArguments(f"expected a JSON object, got {_kind(arguments)}")
    return arguments


def bind(tool: Tool | None, arguments: Json, inputs: Mapping[str, Any]) -> Json:
    """The arguments with the tool's bound parameters taken from the agent's inputs, if there is such an input."""
    if tool is None or not tool.bindings:
        return arguments
    bound = {name: inputs[source] for name, source in tool.bindings.items() if source in inputs}
    return {**arguments, **bound}


def json_text(value: object) -> str:
    """The text of a tool's value for the model: a string as it is, any other value as JSON or by `str`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _not_json(constant: str) -> NoReturn:
    """Reject NaN and Infinity, which Python's parser accepts and JSON does not."""
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", str: "a string", list: "an array"}.get(type(value), "a number")
