"""Schemas of tools with values that they accept and values that they refuse.

A block is a schema with both kinds of values, and blocks are combined into larger ones. So what an offered schema means
is compared with what the declared one means by values, whatever keywords either says it with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError

from looptck.bench.offers import definition
from looptck.values.frozen import dataclass
from looptck.values.plain import plain

MOST = 8
"""The most refused values of a member that an object is tried with."""
Schema = Any
"""A JSON Schema: an object, or a boolean."""


@dataclass(frozen=True, slots=True)
class Block:
    """A schema, values that it accepts, and values that it refuses."""

    schema: Schema
    good: tuple[Any, ...]
    bad: tuple[Any, ...]
    defined: Mapping[str, Schema] = field(default_factory=dict)
    """The definitions to which its references point."""


STRING = Block({"type": "string"}, ("Paris", ""), (1, True, None, ["Paris"], {"city": "Paris"}))
INTEGER = Block({"type": "integer"}, (0, 3, -2), ("3", 1.5, None, [3]))
NUMBER = Block({"type": "number"}, (1.5, 2), ("1.5", None, True))
BOOLEAN = Block({"type": "boolean"}, (True, False), ("true", 0, None))
WORDS = Block({"type": "string", "enum": ["slow", "fast"]}, ("slow", "fast"), ("other", 1, None))
NUMBERS = Block({"type": "integer", "enum": [1, 2, 5]}, (1, 5), (3, "1", None))
FIXED = Block({"const": "fixed"}, ("fixed",), ("other", 1, None))
ANYTHING = Block({}, ("x", 1, None, {"a": [1]}), ())
LEAVES = (STRING, INTEGER, NUMBER, BOOLEAN, WORDS, NUMBERS, FIXED, ANYTHING)


def described(block: Block, text: str) -> Block:
    """The block with a description, as schemas of parameters have."""
    return Block({**block.schema, "description": text}, block.good, block.bad, block.defined)


def all_described(members: Mapping[str, Block]) -> dict[str, Block]:
    """The members with descriptions; a reference has none, as its definition may."""
    return {
        name: block if "$ref" in block.schema else described(block, f"The {name}.") for name, block in members.items()
    }


def nullable(block: Block, *, by_type: bool = False) -> Block:
    """What the block accepts, or null; said by a list of types, or by a union, to which a union is extended."""
    kind = block.schema.get("type")
    if by_type and isinstance(kind, str) and "enum" not in block.schema:
        schema = {**block.schema, "type": [kind, "null"]}
    elif block.schema.keys() == {"anyOf"}:
        schema = {"anyOf": [*block.schema["anyOf"], {"type": "null"}]}
    else:
        schema = {"anyOf": [block.schema, {"type": "null"}]}
    return Block(schema, (*block.good, None), tuple(bad for bad in block.bad if bad is not None), block.defined)


def list_of(block: Block) -> Block:
    """A list of what the block accepts."""
    bad = tuple([one] for one in block.bad[:2])
    return Block({"type": "array", "items": block.schema}, ([], [*block.good]), (*bad, "x", None), block.defined)


def map_of(block: Block) -> Block:
    """An object with any members, each of which is what the block accepts."""
    bad = tuple({"any": one} for one in block.bad[:2])
    good: tuple[Any, ...] = ({}, {f"m{n}": one for n, one in enumerate(block.good)})
    return Block({"type": "object", "additionalProperties": block.schema}, good, (*bad, [], None), block.defined)


def either(one: Block, other: Block) -> Block:
    """What one of two blocks accepts."""
    unions = [Draft202012Validator(_whole(block)) for block in (one, other)]
    bad = tuple(value for value in (*one.bad, *other.bad) if not any(union.is_valid(value) for union in unions))
    defined = {**one.defined, **other.defined}
    return Block({"anyOf": [one.schema, other.schema]}, (one.good[0], other.good[0]), bad, defined)


def referred(block: Block, name: str) -> Block:
    """The block by reference to a definition."""
    return Block({"$ref": f"#/$defs/{name}"}, block.good, block.bad, {**block.defined, name: block.schema})


def chain(name: str) -> Block:
    """A recursive object: a node with a text, and another node or null."""
    node = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "next": {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]}},
        "required": ["text"],
    }
    end = {"text": "end", "next": None}
    good = (end, {"text": "first", "next": end})
    bad: tuple[Any, ...] = ({"text": 1, "next": None}, {"text": "first", "next": {"text": 1, "next": None}}, "x")
    return Block({"$ref": f"#/$defs/{name}"}, good, bad, {name: node})


def object_of(members: Mapping[str, Block], required: Sequence[str]) -> Block:
    """An object with these members."""
    schema: dict[str, Any] = {"type": "object", "properties": {name: one.schema for name, one in members.items()}}
    if required:
        schema["required"] = [*required]
    defined = {name: one for block in members.values() for name, one in block.defined.items()}
    most = max((len(block.good) for block in members.values()), default=1)
    good = [{name: block.good[:n][-1] for name, block in members.items()} for n in range(1, most + 1)]
    first, least = good[0], {name: good[-1][name] for name in required}
    wrong = [{**first, name: bad} for name, block in members.items() for bad in block.bad[:MOST]]
    short = [{other: value for other, value in first.items() if other != name} for name in required]
    return Block(schema, (*good, least), (*short, *wrong, "x"), defined)


def closed_object_of(members: Mapping[str, Block]) -> Block:
    """An object with all of these members and no others, as strict tools have to be."""
    block = object_of(members, [*members])
    more = {**block.good[0], "undeclared": "x"}
    return Block({**block.schema, "additionalProperties": False}, block.good, (more, *block.bad), block.defined)


def indifferent(block: Block) -> Block:
    """The block without the values that are refused only for a member that is not declared."""
    lenient = Draft202012Validator(opened(parameters_of(block)))
    return Block(block.schema, block.good, tuple(bad for bad in block.bad if not lenient.is_valid(bad)), block.defined)


def opened(schema: Any) -> Any:
    """The schema without the word that closes an object, at any depth."""
    if isinstance(schema, list):
        return [opened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: opened(one) for name, one in schema.items() if name != "additionalProperties" or one is not False}


def parameters_of(block: Block) -> dict[str, Any]:
    """The schema of a tool whose parameters are the members of an object."""
    return dict(_whole(block))


def _whole(block: Block) -> Schema:
    return {**block.schema, "$defs": dict(block.defined)} if block.defined else block.schema


def otherwise(block: Block, offered: Any, *, strict: bool) -> str | None:
    """What an offered schema says otherwise than the block; None: nothing.

    Members that are declared as optional may be null: signatures say it so. ``strict``: the service enforces the
    schema. There, and where a schema is closed as if it did, they may be required.
    """
    if unnamed := _members(parameters_of(block)) - _members(offered):
        return f"it does not have the members {plain(sorted(unnamed))}"
    try:
        judge = Draft202012Validator(offered)
        closed = strict or offered.get("additionalProperties") is False
        for value in block.good:
            if not judge.is_valid(value) and not (closed and filled(offered, value, offered) != value):
                return f"it refuses {plain(value)}, which the declared one accepts"
        declared = Draft202012Validator(parameters_of(block))
        for value in block.bad:
            if judge.is_valid(value) and not declared.is_valid(without_nulls(value)):
                return f"it accepts {plain(value)}, which the declared one refuses"
    except ValidationError as error:
        return f"it cannot be read as a JSON Schema: {error.message}"
    except ReferencingError as error:
        return f"it cannot be read as a JSON Schema: {error}"
    return None


def _members(schema: Any) -> set[str]:
    """The names of all members that a schema describes, at any depth and in definitions."""
    if isinstance(schema, list):
        return {name for one in schema for name in _members(one)}
    if not isinstance(schema, dict):
        return set()
    known = schema.get("properties")
    described = known if isinstance(known, dict) else {}
    within = [*described.values(), *(one for name, one in schema.items() if name != "properties")]
    return {*described, *(name for one in within for name in _members(one))}


def without_nulls(value: Any) -> Any:
    """The value without members that are null."""
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: without_nulls(one) for name, one in value.items() if one is not None}


def filled(schema: Any, value: Any, root: Any) -> Any:
    """The value with null for each missing member that a schema requires."""
    if isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str):
        schema = definition(reference, root)
    if not isinstance(schema, dict):
        return value
    for choice in schema.get("anyOf") or ():
        value = filled(choice, value, root)
    if isinstance(value, list):
        return [filled(schema.get("items"), one, root) for one in value]
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, dict):
        return value
    missing = dict.fromkeys(name for name in schema.get("required") or () if name not in value)
    return {name: filled(known.get(name), one, root) for name, one in {**value, **missing}.items()}
