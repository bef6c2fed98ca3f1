"""Schemas that lose their meaning where they say something with references, unions and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.core.offers import offering
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ChatWire


def _each(change: Callable[[Any], Any], schema: Any) -> Any:
    """The schema, with this change applied to all objects and lists in it, whatever they are."""
    if isinstance(schema, dict):
        return change({name: _each(change, one) for name, one in schema.items()})
    return [_each(change, one) for one in schema] if isinstance(schema, list) else schema


def _no_titles(schema: Any) -> Any:
    return {name: one for name, one in schema.items() if name != "title"}


def _first_choice(schema: Any) -> Any:
    return schema["anyOf"][0] if isinstance(schema.get("anyOf"), list) else schema


def _one_or_null(schema: Any) -> Any:
    choices = schema["anyOf"] if isinstance(schema.get("anyOf"), list) else []
    several = {"type": "null"} in choices and len(choices) > 2
    return {**schema, "anyOf": [choices[0], {"type": "null"}]} if several else schema


def _one_type(schema: Any) -> Any:
    return {**schema, "type": schema["type"][0]} if isinstance(schema.get("type"), list) else schema


def _no_constants(schema: Any) -> Any:
    return {"type": "string"} if "const" in schema else schema


@breaks("schemas-keep-their-meaning", cells=CHAT)
class NoTitles(Driver):
    """Drops titles from schemas, and parameters of that name with them."""

    wires = offering(lambda schema: _each(_no_titles, schema))


@breaks(
    "schemas-keep-their-meaning",
    "odd-schemas-keep-their-meaning",
    cells=CHAT,
    collateral={"strict-tools-stay-strict": "a strict schema may have unions"},
)
class FirstOfAUnion(Driver):
    """Offers the first choice of a union, and the first of several types."""

    wires = offering(lambda schema: _each(_one_type, _each(_first_choice, schema)))


@breaks(
    "schemas-keep-their-meaning",
    cells=CHAT,
    collateral={"odd-schemas-keep-their-meaning": "any schema may have a union of three"},
)
class OneOrNull(Driver):
    """Offers the first choice of a union of several with null, as if it were a type that may be null."""

    wires = offering(lambda schema: _each(_one_or_null, schema))


@breaks("schemas-keep-their-meaning", cells=CHAT)
class ConstantsAreTexts(Driver):
    """Offers a constant as any text."""

    wires = offering(lambda schema: _each(_no_constants, schema))


def _no_types(schema: Any) -> Any:
    plain = schema.get("type") in {"string", "integer", "number", "boolean"}
    return {name: one for name, one in schema.items() if name != "type"} if plain else schema


def _by_name(schema: Any, known: dict[str, Any]) -> Any:
    """The schema, with one schema for all plain members of a name, at whatever depth: the first."""
    if not isinstance(schema.get("properties"), dict):
        return schema
    members = {
        name: _by_name(one, known) if "properties" in one else known.setdefault(name, one)
        for name, one in schema["properties"].items()
    }
    return {**schema, "properties": members}


@breaks(
    "schemas-keep-their-meaning",
    "odd-schemas-keep-their-meaning",
    "offered-schema-is-the-declared-one",
    cells=CHAT,
    collateral={"strict-tools-stay-strict": "a strict schema without types means something else"},
)
class NoTypes(Driver):
    """Offers texts, numbers and booleans without their types."""

    wires = offering(lambda schema: _each(_no_types, schema))


@breaks("strict-tools-stay-strict")
class StrictIsDropped(ChatWire):
    """Closes the schema of a strict tool, and does not ask for strictness."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        for tool in body.get("tools", ()):
            tool["function"].pop("strict", None)
        return body


@breaks("strict-tools-stay-strict")
class ClosedAtTheTop(Tool):
    """Closes a strict schema, and leaves the objects in it as they were declared."""

    @property
    def offered(self) -> Json:
        return {**super().offered, "properties": self.parameters["properties"]} if self.strict else super().offered
