"""Faults of theme 3: what loops do to the schemas of their tools before they offer them."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
import messages_plain
import responses_plain
from chat_plain import Chat
from messages_plain import Conversation
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, chat_tools, messages_tools, responses_tools


def without_titles(part: Any) -> Any:
    """Take the titles that a generator of schemas wrote out at every depth."""
    if isinstance(part, list):
        return [without_titles(item) for item in part]
    if isinstance(part, dict):
        return {key: without_titles(value) for key, value in part.items() if key != "title"}
    return part


class DriverTitleParameter(chat_plain.Driver):
    """A parameter whose name is `title` is not offered, though it may be required."""

    class loop(Chat):
        """Offers schemas without titles."""

        def offers(self) -> list[Json]:
            return chat_tools(
                {name: tool | {"parameters": without_titles(tool["parameters"])} for name, tool in self.tools.items()}
            )


def inlined(part: Any, definitions: Json, above: tuple[str, ...] = ()) -> Any:
    """Put definitions where they are referred to; one within itself is cut off as an open object."""
    if isinstance(part, list):
        return [inlined(item, definitions, above) for item in part]
    if not isinstance(part, dict):
        return part
    pointer = part.get("$ref")
    name = pointer.removeprefix("#/$defs/") if isinstance(pointer, str) else ""
    if name in definitions:
        beside = {key: value for key, value in part.items() if key != "$ref"}
        if name in above:
            return {"type": "object"} | beside
        whole = inlined(definitions[name], definitions, (*above, name))
        return whole | beside if isinstance(whole, dict) else whole
    return {key: inlined(value, definitions, above) for key, value in part.items() if key != "$defs"}


class DriverRecursionCut(messages_plain.Driver):
    """A schema that refers to itself is offered to a depth of one, with any object below."""

    class conversation(Conversation):
        """Offers schemas without definitions."""

        def offers(self) -> list[Json]:
            flat = {}
            for name, tool in self.tools.items():
                parameters = tool["parameters"]
                flat[name] = tool | {"parameters": inlined(parameters, parameters.get("$defs") or {})}
            return [*messages_tools(flat), *self.hosted]


def strict(part: Any) -> Any:
    """Make a schema fit for strict mode: each object is closed, and has all its properties."""
    if isinstance(part, list):
        return [strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    whole = {key: value if key in ("enum", "const", "default") else strict(value) for key, value in part.items()}
    if part.get("type") == "object":
        properties = whole.get("properties") or {}
        whole |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return whole


class DriverAlwaysStrict(responses_plain.Driver):
    """Optional parameters of a tool that was not declared strict are required, and free objects have no members."""

    class steps(Run):
        """Offers each tool as a strict one."""

        def offers(self) -> list[Json]:
            tools = {
                name: tool | {"parameters": strict({"type": "object"} | tool["parameters"])}
                for name, tool in self.tools.items()
            }
            own = [offer | {"strict": True} for offer in responses_tools(tools)]
            return [*own, *super().offers()[len(own) :]]
