"""Schemas that lose their meaning where they say something with references, unions and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.core.offers import offering
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver


def _each(change: Callable[[Any], Any], schema: Any) -> Any:
    """The schema, with this change applied to all objects and lists in it, whatever they are."""
    if isinstance(schema, dict):
        return change({name: _each(change, one) for name, one in schema.items()})
    return [_each(change, one) for one in schema] if isinstance(schema, list) else schema


def _no_titles(schema: Any) -> Any:
    return {name: one for name, one in schema.items() if name != "title"}


def _first_choice(schema: Any) -> Any:
    return schema["anyOf"][0] if isinstance(schema.get("anyOf"), list) else schema


def _one_type(schema: Any) -> Any:
    return {**schema, "type": schema["type"][0]} if isinstance(schema.get("type"), list) else schema


def _no_constants(schema: Any) -> Any:
    return {"type": "string"} if "const" in schema else schema


def _any_reference(schema: Any) -> Any:
    return {"type": "object", "properties": {}} if "$ref" in schema else schema


def _closed_maps(schema: Any) -> Any:
    return {**schema, "additionalProperties": False} if "additionalProperties" in schema else schema


@breaks("schemas-keep-their-meaning", cells=CHAT)
class NoTitles(Driver):
    """Drops titles from schemas, and parameters of that name with them."""

    wires = offering(lambda schema: _each(_no_titles, schema))


@breaks("schemas-keep-their-meaning", "odd-schemas-keep-their-meaning", cells=CHAT)
class NoDefinitions(Driver):
    """Offers the members of parameters, and not the definitions to which they refer."""

    wires = offering(lambda schema: {name: one for name, one in schema.items() if name != "$defs"})


@breaks("schemas-keep-their-meaning", "odd-schemas-keep-their-meaning", cells=CHAT)
class FirstOfAUnion(Driver):
    """Offers the first choice of a union, and the first of several types."""

    wires = offering(lambda schema: _each(_one_type, _each(_first_choice, schema)))


@breaks("schemas-keep-their-meaning", cells=CHAT)
class ConstantsAreTexts(Driver):
    """Offers a constant as any text."""

    wires = offering(lambda schema: _each(_no_constants, schema))


@breaks("schemas-keep-their-meaning", "odd-schemas-keep-their-meaning", cells=CHAT)
class ReferencesAreObjects(Driver):
    """Offers what is referred to as an object without members."""

    wires = offering(lambda schema: _each(_any_reference, schema))


@breaks(
    "odd-schemas-keep-their-meaning",
    collateral={"open-schemas-are-offered": "an open object is one with members of any name"},
    cells=CHAT,
)
class MapsAreClosed(Driver):
    """Offers objects with members of any name as objects without members."""

    wires = offering(lambda schema: _each(_closed_maps, schema))
