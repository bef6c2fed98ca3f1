"""A case in the words of a ``.prompty`` file."""

from __future__ import annotations

from typing import Any

import prompty

Json = dict[str, Any]

MODELS = {
    "openai-chat": {"provider": "openai", "apiType": "chat"},
    "openai-responses": {"provider": "openai", "apiType": "responses"},
    "anthropic-messages": {"provider": "anthropic", "apiType": "chat"},
}
"""What the frontmatter of a ``.prompty`` file says for each wire."""

NOWHERE = {"kind": "anonymous", "endpoint": ""}
"""Prompty wants a connection of every tool that it does not know the kind of, whether its handler uses one or not."""

_Agent = getattr(prompty, "Agent", None) or prompty.Prompty
"""The class of what stands in such a file, which was called Prompty until 2.0.0."""


def prompt(case: Json) -> Any:
    """What the entry points take: the path of the agent's file if there is one, which they load, or else the agent."""
    return case["agent"].get("path") or _agent(case)


def _agent(case: Json) -> Any:
    """The case as frontmatter, and the body as its instructions."""
    endpoint = case["base_url"]
    if case["wire"] == "anthropic-messages":
        endpoint = endpoint.removesuffix("/v1")
    return _Agent.load(
        {
            "name": case["agent"]["name"],
            "description": case["agent"]["description"],
            "model": {
                "id": case["model"],
                **MODELS[case["wire"]],
                "connection": {"kind": "key", "endpoint": endpoint, "apiKey": case["api_key"]},
                "options": {"additionalProperties": {"stream": True}} if case["stream"] else {},
            },
            "inputs": case["agent"]["inputs"],
            "tools": [_tool(tool) for tool in case["tools"]],
            "instructions": "\n\n".join(f"{part['role']}:\n{part['content']}" for part in case["agent"]["template"]),
        }
    )


def _tool(tool: Json) -> Json:
    told = {key: tool[key] for key in ("name", "kind", "description", "path", "mode", "strict") if key in tool}
    if "bindings" in tool:
        told["bindings"] = {parameter: {"input": name} for parameter, name in tool["bindings"].items()}
    if tool["kind"] not in {"function", "prompty"}:
        told["connection"] = NOWHERE
    return {**told, "parameters": _properties(tool["parameters"], tool["parameters"].get("$defs", {}))}


def _properties(schema: Json, definitions: Json) -> list[Json]:
    """The properties of a JSON Schema as a list of Prompty's."""
    required = schema.get("required", [])
    return [
        {"name": name, "required": name in required, **_property(one, definitions)}
        for name, one in schema.get("properties", {}).items()
    ]


def _property(schema: Json, definitions: Json) -> Json:
    """A schema as one of Prompty's properties, without what only an object says of it.

    Prompty has no references: a definition stands where it is referred to, except within itself.
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        others = {key: one for key, one in definitions.items() if key != name}
        return _property({**definitions.get(name, {}), **_without(schema, "$ref")}, others)
    types = schema.get("type")
    choices = schema.get("anyOf") or [{"type": one} for one in (types if isinstance(types, list) else [types])]
    some = [one for one in choices if one != {"type": "null"}]
    about = {"description": schema.get("description"), "nullable": len(some) < len(choices) or None}
    each = [{**_without(schema, "anyOf", "type", "description"), **one} for one in some]
    if len(each) > 1:
        told = {"kind": "union", "anyOf": [_property(one, definitions) for one in each]}
    elif "anyOf" in schema:
        told = _property(each[0], definitions)
    else:
        told = _of_one_kind(each[0], definitions)
    return {**told, **{name: value for name, value in about.items() if value is not None}}


def _of_one_kind(schema: Json, definitions: Json) -> Json:
    """A schema of one type. One without, whose values may be anything, has no kind: Prompty has no word for it."""
    told = {"kind": schema["type"], "enumValues": schema.get("enum")}
    if "const" in schema:
        told |= {"kind": schema["type"] or "string", "enumValues": [schema["const"]]}
    if "items" in schema:
        told["items"] = _property(schema["items"], definitions)
    if "properties" in schema:
        told["properties"] = _properties(schema, definitions)
    return {name: value for name, value in told.items() if value is not None}


def _without(schema: Json, *names: str) -> Json:
    return {name: one for name, one in schema.items() if name not in names}
