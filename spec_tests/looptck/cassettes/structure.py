"""The structure of a reply: its members with their types and their order, and which event follows which.

What the model says is no part of it, nor are the arguments of its calls and the number of deltas. So replies can be
compared: what an encoder writes with what a server sent, or what a server sends today with what it sent before. A plain
body is one event.

A structure is written in lines, which files of deviations quote (``fixtures/deviations``):

- ``event chunk.usage``: there is an event of this kind;
- ``chunk.usage /usage/total_tokens number``: it has this member, of this type;
- ``body /content/*text/text text``: ``*`` is any place in a list, followed by the type of the entry;
- ``chunk.usage / in another order``: the members that both replies have are in another order;
- ``chunk.end then chunk.usage``: which kind follows which, where both replies have both.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations, groupby, pairwise
from typing import Any

from looptck.cassettes.events import stream_events
from looptck.provider.script import Recorded
from looptck.values.frozen import dataclass

BODY = "body"
"""The kind of a plain reply."""
_START, _END = "(start)", "(end)"
_TYPES = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}


@dataclass(slots=True)
class Structure:
    """The structure of one reply."""

    kinds: list[str] = field(default_factory=list)
    """Of its events, in order; of several of a kind in a row, one."""
    members: set[tuple[str, str, str]] = field(default_factory=set)
    """Kind, path and type."""
    orders: set[tuple[str, str, str, str]] = field(default_factory=set)
    """Kind, path of an object, a member, and a later member."""

    @property
    def lines(self) -> frozenset[str]:
        """The members, and which kind follows which, in lines; the order of the members is left out."""
        follows = pairwise([_START, *self.kinds, _END])
        members = (f"{kind} {path or '/'} {type}" for kind, path, type in self.members)
        return frozenset([*members, *(f"{first} then {second}" for first, second in follows)])


def structure_of(events: Sequence[Any]) -> Structure:
    """The structure of the events of a stream, or of a single body."""
    structure = Structure()
    for event in events:
        kind = kind_of(event)
        if structure.kinds[-1:] != [kind]:
            structure.kinds.append(kind)
        _look(structure, kind, "", event)
    return structure


def reply_structure(reply: Recorded) -> Structure:
    """The structure of a recorded reply; a plain body that is no JSON is one text."""
    return structure_of(events_of(reply))


def events_of(reply: Recorded) -> list[Any]:
    """The events of a recorded reply: of a plain one its JSON, or its text where it is none."""
    if reply.streamed:
        return [event.value for event in stream_events(reply.body)]
    try:
        return [json.loads(reply.body)]
    except ValueError:
        return [reply.body.decode(errors="replace")]


def kind_of(event: Any) -> str:
    """The kind of an event: its type with what begins or grows in it, or what a chunk of Chat Completions brings."""
    if isinstance(event, str):
        return event
    if event.get("object") == "chat.completion.chunk":
        return _chunk(event)
    type = event.get("type")
    if type is None or type == "message":
        return "error" if event.get("error") else BODY
    inner = (event.get(name) for name in ("item", "content_block", "delta", "part"))
    kinds = [one["type"] for one in inner if isinstance(one, dict) and "type" in one]
    return ".".join([type, *kinds])


@dataclass(frozen=True, slots=True)
class Differences:
    """What one of two structures has and the other has not, in lines."""

    left: frozenset[str]
    right: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.left or self.right)


def differences(left: Structure, right: Structure) -> Differences:
    """The differences, each once: parts of a missing member are left out, and another order is listed on the left."""
    return Differences(frozenset([*_only(left, right), *_reordered(left, right)]), frozenset(_only(right, left)))


def _only(one: Structure, other: Structure) -> Iterator[str]:
    """What only ``one`` has."""
    shared = set(one.kinds) & set(other.kinds)
    yield from (f"event {kind}" for kind in dict.fromkeys(one.kinds) if kind not in shared)
    paths: dict[str, set[str]] = defaultdict(set)
    for kind, path, _ in other.members:
        paths[kind].add(path)
    for kind, path, type in one.members - other.members:
        parent = path.rpartition("/")[0]
        if kind in shared and (path in paths[kind] or parent in paths[kind]):
            yield f"{kind} {path or '/'} {type}"
    follows = _follows(one, shared) - _follows(other, shared)
    yield from (f"{first} then {second}" for first, second in follows)


def _reordered(one: Structure, other: Structure) -> Iterator[str]:
    """The objects whose common members are in another order."""
    for kind, path, first, second in one.orders - other.orders:
        if (kind, path, second, first) in other.orders - one.orders:
            yield f"{kind} {path or '/'} in another order"


def _follows(structure: Structure, shared: set[str]) -> set[tuple[str, str]]:
    """Which kind follows which, without the kinds that only one of them has."""
    kinds = [kind for kind, _ in groupby(kind for kind in structure.kinds if kind in shared)]
    return set(pairwise([_START, *kinds, _END]))


def _look(structure: Structure, kind: str, path: str, value: Any) -> None:
    structure.members.add((kind, path, _TYPES.get(type(value), "null")))
    if isinstance(value, dict):
        structure.orders |= {(kind, path, first, second) for first, second in combinations(value, 2)}
        is_call = value.get("type") == "tool_use"
        for name, inner in value.items():
            place = f"{path}/{name}"
            if is_call and name == "input" and isinstance(inner, dict):
                structure.members.add((kind, place, "object"))  # what is in it are arguments
            else:
                _look(structure, kind, place, inner)
    elif isinstance(value, list):
        for inner in value:
            _look(structure, kind, f"{path}/*{_type(inner)}", inner)


def _type(value: Any) -> str:
    type = value.get("type") if isinstance(value, dict) else None
    return type if isinstance(type, str) else ""


def _chunk(chunk: Mapping[str, Any]) -> str:
    if not chunk["choices"]:
        return "chunk.usage" if chunk.get("usage") else "chunk.empty"
    choice = chunk["choices"][0]
    delta = choice["delta"]
    if choice["finish_reason"] is not None:
        return "chunk.end"
    if delta.get("tool_calls"):
        return "chunk.call" if delta["tool_calls"][0].get("id") else "chunk.arguments"
    brought = [name for name, value in delta.items() if value]
    return f"chunk.{brought[0]}" if brought else "chunk.nothing"
