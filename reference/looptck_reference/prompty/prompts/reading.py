"""Model, inputs and tools from frontmatter that the schema has accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looptck_reference.prompty.prompts.errors import Fault
from looptck_reference.prompty.prompts.prompt import Model
from looptck_reference.prompty.prompts.properties import Input, named, properties, schema
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["inputs", "model", "tools"]

_COMMON = ("name", "kind", "description", "parameters", "bindings", "strict")
"""The members that tools of every kind have; all others are options of the kind."""


def model(front: Json) -> Model:
    """The model; the file may have only its id."""
    said = front["model"]
    if isinstance(said, str):
        return Model(said)
    connection = said.get("connection") or {}
    options = dict(said.get("options") or {})
    further = dict(options.pop("additionalProperties", None) or {})
    streams = [options.pop("stream", None), further.pop("stream", None)]
    return Model(
        id=said["id"],
        provider=said.get("provider") or "openai",
        api_type=said.get("apiType") or "chat",
        endpoint=connection.get("endpoint") or None,  # the empty default of a reference counts as absent
        api_key=connection.get("apiKey") or None,
        # The documents do not define this option, so it is accepted as an option or as an additional property.
        stream=next((one for one in streams if one is not None), False),
        options={**options, "additionalProperties": further} if further else options,
    )


def inputs(front: Json) -> tuple[Input, ...]:
    """The inputs; the guide calls them `inputSchema`, the later specification `inputs`."""
    guide, later = front.get("inputSchema"), front.get("inputs")
    if guide is not None and later is not None:
        raise Fault("/inputSchema", "cannot be used together with /inputs; keep one of them")
    return properties(guide, "/inputSchema") if later is None else properties(later, "/inputs")


def tools(front: Json) -> Iterator[tuple[Tool, str]]:
    """Tools and their JSON pointers. Tools of kind `prompty` get their parameters later, from their child."""
    for name, (said, pointer) in named(front.get("tools"), "/tools").items():
        declared = properties(said.get("parameters"), f"{pointer}/parameters")
        options = {one: value for one, value in said.items() if one not in _COMMON}
        if said["kind"] == "prompty":
            options["mode"] = said.get("mode") or "single"
        tool = Tool(
            name,
            said.get("description") or "",
            schema(declared, required=[one.name for one in declared if one.required]),
            kind=said["kind"],
            bindings=_bindings(said.get("bindings"), f"{pointer}/bindings"),
            strict=said.get("strict") or False,
            options=options,
        )
        yield tool, pointer


def _bindings(said: Any, pointer: str) -> dict[str, str]:
    """Input names by the parameter that they are bound to: `unit: {input: NAME}`, `unit: NAME`, or a list."""
    entries = named(said, pointer).items()
    return {name: one["input"] if isinstance(one, dict) else one for name, (one, _) in entries}
