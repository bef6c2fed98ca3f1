"""Hypothesis strategies: arguments, turns, framings, conversations, and calls of tools with bindings."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from zlib import crc32

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from looptck.bench import schema_blocks
from looptck.bench.schema_blocks import Block
from looptck.catalogue.agents import Tool, agent
from looptck.values import turns
from looptck.values.framing import LAYOUT, Framing
from looptck.values.frozen import dataclass
from looptck.values.turns import Call, Thinking, Turn

TOOLS = ("ping", "weather", "add", "note")
"""The tools of the assistant."""
ASSISTANT = agent("assistant").tools
CLERK = agent("clerk").tools
"""The assistant's tools and two tools with nested arguments. Runs with them are runs of the agent ``clerk``."""
FLAT = [tool for tool in CLERK if tool.name != "order"]
"""Those whose arguments hold no object, for rows that are not about shapes: some loops take no schema with one."""

CHARACTERS = st.characters(exclude_categories=["Cs"])
"""All characters but surrogates. Stated as categories, because hypothesis takes seconds to derive them from a codec."""
_TEXT = st.text(CHARACTERS, max_size=20)
_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
"""Those that are the same in every program (RFC 8259, section 6). A loop may refuse others, as zod's ``int`` does."""
_FRACTIONS = st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda number: float(f"{number:.9g}"))
"""With at most fifteen digits, which is what Perl and others write of a number (C's DBL_DIG)."""
_NUMBERS = _INTEGERS | _FRACTIONS
_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_VALUES: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_OF_TYPE: dict[str, SearchStrategy[Any]] = {
    "string": _TEXT,
    "integer": _INTEGERS,
    "number": _NUMBERS,
    "boolean": st.booleans(),
}


def arguments() -> SearchStrategy[dict[str, Any]]:
    """Any JSON object, for tools that accept any; keys are identifiers, because loops pass them as keywords."""
    return st.dictionaries(_NAMES, _VALUES, max_size=4)


def fitting(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    """Any value that fits a schema, with every declared member and no other.

    A loop that checks arguments therefore runs the call, however it treats optional members.
    """
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            members = {name: fitting(one) for name, one in schema.get("properties", {}).items()}
            return st.fixed_dictionaries(members)
        case "array":
            return st.lists(fitting(schema["items"]), max_size=3)
        case scalar:
            return _OF_TYPE[scalar]


def argument_texts(values: SearchStrategy[Any] | None = None) -> SearchStrategy[str]:
    """Arguments as text, in any of the spellings that a model may use; by default of `arguments`."""
    spacing = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])
    return st.builds(
        lambda value, escaped, separators: json.dumps(value, ensure_ascii=escaped, separators=separators),
        values if values is not None else arguments(),
        st.booleans(),
        spacing,
    )


def calls(tools: Sequence[Tool] = ASSISTANT) -> SearchStrategy[Call]:
    """Any call of one of these tools that fits the tool's schema."""
    return st.one_of([st.builds(Call, st.just(tool.name), argument_texts(fitting(tool.parameters))) for tool in tools])


def turns_with_calls(tools: Sequence[Tool] = ASSISTANT) -> SearchStrategy[Turn]:
    """Any turn with one to four calls, with or without text."""
    text = st.none() | _TEXT.filter(str.strip)
    wanted = st.lists(calls(tools), min_size=1, max_size=4)
    return st.builds(lambda text, wanted: turns.calls(*wanted, text=text), text, wanted)


def turns_with_thoughts(tools: Sequence[Tool] = ASSISTANT) -> SearchStrategy[Turn]:
    """Any turn with calls that may begin with thinking, some of it redacted."""
    thought = st.builds(Thinking, _TEXT, st.booleans())
    return st.builds(
        lambda thoughts, turn: Turn((*thoughts, *turn.pieces)), st.lists(thought, max_size=2), turns_with_calls(tools)
    )


def framings(layouts: Collection[str] = LAYOUT) -> SearchStrategy[Framing]:
    """Any valid framing of a wire that can encode turns with these features."""
    flags = {name: st.booleans() for name in LAYOUT if name != "fragment" and name in layouts}
    return st.builds(
        Framing,
        fragment=st.integers(0, 7),
        **flags,
        newline=st.sampled_from(["\n", "\r\n"]),
        comments=st.booleans(),
        space=st.booleans(),
        escaped=st.booleans(),
        event_names=st.booleans(),
        padded=st.booleans(),
        cuts=st.lists(st.integers(1, 1500) | st.integers(1500, 9000), max_size=6).map(tuple),
    )


def known_framings(layouts: Collection[str]) -> SearchStrategy[Framing]:
    """Any such framing but those in which comments follow ids, which is a requirement of its own."""

    def without_ids(framing: Framing) -> Framing:
        return framing.but(event_names=False) if framing.comments else framing

    return framings(layouts).map(without_ids)


def conversations(tools: Sequence[Tool] = ASSISTANT) -> SearchStrategy[list[Turn]]:
    """Any conversation of up to four turns with calls, without the final answer."""
    return st.lists(turns_with_calls(tools), max_size=4)


EVENTFUL = [
    turns.calls(Call.of("weather", {"city": "Zürich — 東京"}), Call.of("ping"), text="One moment."),
    turns.calls(Call.of("add", {"a": 1, "b": 2}), text="And the sum."),
    turns.calls(Call.of("note", {"text": 'quotes " and \\n lines'})),
]
"""A conversation that contains every feature that the generated conversations may have."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A tool with bindings, the inputs of a run, and the arguments that the model writes for a call of it."""

    tool: Tool
    inputs: dict[str, Any]
    arguments: dict[str, Any]

    @property
    def merged(self) -> dict[str, Any]:
        """The arguments with every binding applied whose input is given."""
        bound = {name: self.inputs[input] for name, input in self.tool.bindings.items() if input in self.inputs}
        return self.arguments | bound


@st.composite
def bound_calls(draw: DrawFn) -> BoundCall:
    """Any call of a tool with at least one binding.

    Parameters and inputs share names, so that a loop may confuse them. The model writes all parameters without a
    binding and some with one. Values and inputs have the types of the parameters, so that the tool always gets valid
    arguments.
    """
    names = draw(st.lists(_NAMES.filter(lambda name: name != "question"), min_size=2, max_size=5, unique=True))
    parameters = draw(st.lists(st.sampled_from(names), min_size=1, unique=True), label="parameters")
    type = draw(st.sampled_from(sorted(_OF_TYPE)), label="type")
    schema = {
        "type": "object",
        "properties": {name: {"type": type, "description": f"The {name}."} for name in parameters},
        "required": draw(st.lists(st.sampled_from(parameters), unique=True), label="required"),
    }
    bindings = draw(_some_of(parameters, st.sampled_from(names), least=1), label="bindings")
    free = [name for name in parameters if name not in bindings]
    written = draw(st.fixed_dictionaries(dict.fromkeys(free, _OF_TYPE[type])), label="written")
    return BoundCall(
        Tool("act", "Does something.", schema, bindings=bindings),
        draw(_some_of(names, _OF_TYPE[type]), label="inputs"),
        written | draw(_some_of(sorted(bindings), _OF_TYPE[type]), label="written for bound ones"),
    )


def _some_of(names: Sequence[str], values: SearchStrategy[Any], least: int = 0) -> SearchStrategy[dict[str, Any]]:
    """Values for some of these names."""
    chosen = st.lists(st.sampled_from(names), min_size=least, unique=True)
    return chosen.flatmap(lambda some: st.fixed_dictionaries(dict.fromkeys(some, values)))


_MEMBERS = st.sampled_from(
    ["city", "where", "type", "title", "items", "required", "properties", "enum", "anyOf", "ref"]
)
"""Names of parameters, most of them keywords of JSON Schema."""


def _named(block: Block) -> Block:
    """The block by reference, under a name that follows from it."""
    return schema_blocks.referred(block, f"Part{crc32(repr(block.schema).encode())}")


def _object(inner: SearchStrategy[Block], most: int) -> SearchStrategy[Block]:
    known = st.dictionaries(_MEMBERS, inner, min_size=1, max_size=most)
    return known.flatmap(
        lambda members: st.builds(
            schema_blocks.object_of,
            st.just(schema_blocks.all_described(members)),
            st.lists(st.sampled_from([*members]), unique=True),
        )
    )


def _larger(inner: SearchStrategy[Block]) -> SearchStrategy[Block]:
    return st.one_of(
        inner.map(schema_blocks.list_of),
        inner.map(schema_blocks.nullable),
        inner.map(lambda block: schema_blocks.nullable(block, by_type=True)),
        inner.map(_named),
        _object(inner, 3),
    )


def parameters() -> SearchStrategy[Block]:
    """Parameters of a tool: an object whose members are of any kind, at any depth."""
    return _object(st.recursive(st.sampled_from(schema_blocks.LEAVES), _larger, max_leaves=5), 4)
