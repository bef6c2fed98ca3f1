"""Schemas that are offered with changes: `Wire.request`, and the use of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks, speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ChatWire, Wire


def offering(change: Callable[[Json], Json]) -> Mapping[str, Wire]:
    """The wires, with changed parameter schemas in Chat Completions."""

    class Chat(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            functions = [tool["function"] for tool in body.get("tools", ())]
            changed = [{**one, "parameters": change(dict(one["parameters"]))} for one in functions]
            return {**body, "tools": [{"type": "function", "function": one} for one in changed]} if changed else body

    return speaking(chat=Chat())


def describing(change: Callable[[str], str]) -> Mapping[str, Wire]:
    """The wires, with changed descriptions of tools in Chat Completions."""

    class Chat(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            functions = [tool["function"] for tool in body.get("tools", ())]
            changed = [{**one, "description": change(one["description"])} for one in functions]
            return {**body, "tools": [{"type": "function", "function": one} for one in changed]} if changed else body

    return speaking(chat=Chat())


def _everywhere(change: Callable[[Json], Json], schema: Json) -> Json:
    """The schema, with this change applied to it and to all nested schemas."""
    inner = dict(schema)
    if "properties" in inner:
        inner["properties"] = {name: _everywhere(change, one) for name, one in inner["properties"].items()}
    if "items" in inner:
        inner["items"] = _everywhere(change, inner["items"])
    return change(inner)


def _without(*keys: str) -> Callable[[Json], Json]:
    return lambda schema: {key: one for key, one in schema.items() if key not in keys}


def _flat(schema: Json) -> Json:
    shallow = {name: _without("properties", "required", "items")(one) for name, one in schema["properties"].items()}
    return {**schema, "properties": shallow}


@breaks(
    "offered-schema-is-the-declared-one",
    collateral={
        (
            "schemas-keep-their-meaning",
            "odd-schemas-keep-their-meaning",
        ): "a schema without its required members means something else",
        "strict-tools-stay-strict": "a strict schema requires all its members",
    },
)
class NothingRequired(Driver):
    """Offers all parameters as optional."""

    wires = offering(_without("required"))


@breaks("descriptions-are-offered-whole")
class FirstLineDescribes(Driver):
    """Offers the first line of each description."""

    wires = describing(lambda text: text.partition("\n")[0])


@breaks("missing-description-is-no-word")
class NothingDescribes(Driver):
    """Describes a tool that has no description by a word for nothing."""

    wires = describing(lambda text: text or "(None)")


@breaks("parameter-descriptions-are-offered")
class ParametersUndescribed(Driver):
    """Offers parameters without their descriptions."""

    @staticmethod
    def bare(schema: Json) -> Json:
        """The schema without descriptions; a parameter may itself be named `description`."""
        return {key: one for key, one in schema.items() if key != "description" or not isinstance(one, str)}

    wires = offering(lambda schema: _everywhere(ParametersUndescribed.bare, schema))


@breaks("open-schemas-are-offered")
class ClosesAllObjects(Driver):
    """Offers objects with arbitrary members as objects without additional members."""

    wires = offering(lambda schema: {**schema, "additionalProperties": False})


@breaks("open-schemas-are-offered")
class UnknownMembersDropped(Loop):
    """Passes a tool only the arguments that its schema names."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        known: Mapping[str, Any] = tool.parameters.get("properties", {}) if tool else arguments
        return super().bind(tool, {name: one for name, one in arguments.items() if name in known})


@breaks("prompt-reaches-the-model")
class DoubleBracesHalved(ChatWire):
    """Treats the prompt as a format string."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        halved = [(one, one["content"].replace("{{", "{").replace("}}", "}")) for one in super().opening(messages)]
        return [{**message, "content": text} for message, text in halved]


@breaks("no-tools-are-no-list", cells=CHAT)
class NoToolsAreAList(ChatWire):
    """Sends an empty list where there are no tools."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        return {"tools": [], **super().request(agent, history, stream=stream)}


@breaks(
    "requests-are-well-formed",
    collateral={"no-tool-options-without-tools": "the choice is an option of tools"},
)
class ChoiceWithoutTools(ChatWire):
    """Sends a tool choice in requests without tools."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        return {"tool_choice": "auto", **super().request(agent, history, stream=stream)}


@breaks(
    "answer-is-not-ruled-out",
    collateral={
        "choice-reaches-the-service": "the caller's own choice is lost",
        "forced-choice-is-for-one-round": "calls are forced in every round",
    },
)
class CallsAreForced(ChatWire):
    """Forces a call in each request that offers tools."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return body | {"tool_choice": "required"} if body.get("tools") else body
