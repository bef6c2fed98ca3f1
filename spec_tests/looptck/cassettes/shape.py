"""The shape of a reply: which members it has, of which types and in which order, and which event follows which.

What is said does not count, nor how many deltas it takes. So two replies that say the same can be compared: what an
encoder writes with what a server sent, or what a server sends today with what it sent then. A plain body is one event.

A shape is told in lines, which catalogues of deviations name (``fixtures/dialects``):

- ``event chunk.usage``: there is an event of this kind;
- ``chunk.usage /usage/total_tokens number``: it has this member, of this type;
- ``body /content/*text/text text``: ``*`` is any place in a list, with the type of what stands there;
- ``chunk.usage / in another order``: the members that both have stand in another order;
- ``chunk.end then chunk.usage``: which kind follows which, where both replies have both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby, pairwise
from typing import Any

from looptck.cassettes.events import stream_events
from looptck.provider.script import Recorded

BODY = "body"
"""The kind of a plain reply."""
_START, _END = "(start)", "(end)"
_TYPES = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}


@dataclass(slots=True)
class Shape:
    """The shape of one reply."""

    kinds: list[str] = field(default_factory=list)
    """Of its events, in order; of several of a kind in a row, one."""
    members: set[tuple[str, str, str]] = field(default_factory=set)
    """Kind, path and type."""
    orders: set[tuple[str, str, str, str]] = field(default_factory=set)
    """Kind, path of an object, a member, and a member behind it."""


def shape_of(events: Sequence[Any]) -> Shape:
    """The shape of the events of a stream, or of a single body."""
    shape = Shape()
    for event in events:
        kind = kind_of(event)
        if shape.kinds[-1:] != [kind]:
            shape.kinds.append(kind)
        _look(shape, kind, "", event)
    return shape


def events_of(reply: Recorded, body: Any) -> list[Any]:
    """The events of a recorded reply; ``body``: its JSON, where it is no stream."""
    return [event.value for event in stream_events(reply.body)] if reply.streamed else [body]


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
    """What one of two shapes has and the other has not, in lines."""

    left: frozenset[str]
    right: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.left or self.right)


def differences(left: Shape, right: Shape) -> Differences:
    """The differences, each told once: of what is missing whole, its parts are not, and another order is the left's."""
    return Differences(frozenset([*_only(left, right), *_reordered(left, right)]), frozenset(_only(right, left)))


def _only(one: Shape, other: Shape) -> Iterator[str]:
    """What the one has alone."""
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


def _reordered(one: Shape, other: Shape) -> Iterator[str]:
    """The objects whose members, where both have them, stand in another order."""
    for kind, path, first, second in one.orders - other.orders:
        if (kind, path, second, first) in other.orders - one.orders:
            yield f"{kind} {path or '/'} in another order"


def _follows(shape: Shape, shared: set[str]) -> set[tuple[str, str]]:
    """Which kind follows which, if only the shared ones were there."""
    kinds = [kind for kind, _ in groupby(kind for kind in shape.kinds if kind in shared)]
    return set(pairwise([_START, *kinds, _END]))


def _look(shape: Shape, kind: str, path: str, value: Any) -> None:
    shape.members.add((kind, path, _TYPES.get(type(value), "null")))
    if isinstance(value, dict):
        shape.orders |= {(kind, path, first, second) for first, second in combinations(value, 2)}
        for name, inner in value.items():
            _look(shape, kind, f"{path}/{name}", inner)
    elif isinstance(value, list):
        for inner in value:
            _look(shape, kind, f"{path}/*{_type(inner)}", inner)


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
