"""Histories: the provider-neutral form of a request, each item with its JSON pointer into the body.

A wire reads a request into this form, and the oracle computes the expected history in this form, so that a
check is written once for all wires.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import lru_cache
from itertools import groupby
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.images import Part
from looptck.values.jsontext import canonical
from looptck.values.plain import cut, plain

SHORT = 120
"""The most characters of a text or value in the description of an item."""
STORED = "the thread's "
"""What the pointer of an item begins with that the service has stored, and that the request does not carry."""


@dataclass(frozen=True, slots=True)
class Said:
    """Text of one role; ``parts``: its texts and images in order, if images are among them."""

    role: str
    text: str
    pointer: str = field(default="", compare=False)
    parts: tuple[Part, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.role} says {plain(self.text, SHORT)}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call of the model, echoed. ``arguments`` is the text of the wire, unparsed."""

    id: str
    tool: str
    arguments: str
    pointer: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"call {self.id}: {self.tool}({cut(self.arguments, SHORT)})"


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool result with its call's id; ``failed``: the wire's mark for an error, if it has one.

    ``parts``: its texts and images in order, if images are among them.
    """

    id: str
    text: str
    pointer: str = field(default="", compare=False)
    failed: bool = False
    parts: tuple[Part, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"result of {self.id}: {plain(self.text, SHORT)}"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A piece of a turn that a loop must return unchanged without interpreting it: thinking, a hosted tool.

    ``kind`` is the wire's type of the piece; ``value`` is the whole piece, or the part that the service checks.
    """

    kind: str
    value: Any
    pointer: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The value as text."""
        return json.dumps(self.value, ensure_ascii=False)

    def __str__(self) -> str:
        return f"{self.kind} {plain(self.value, SHORT)}"


Item = Said | Asked | Answered | Opaque


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as offered to the model."""

    name: str
    description: str
    parameters: Any
    pointer: str = field(default="", compare=False)
    strict: bool = False
    """Whether the service should enforce the parameters' schema."""


@dataclass(frozen=True, slots=True)
class Request:
    """A model request in provider-neutral form."""

    model: str
    stream: bool
    items: tuple[Item, ...]
    """The whole history, in order, from the body and from server-side state."""
    tools: tuple[Offered, ...]
    continues: str | None = None
    """The id of the reply or conversation that the request continues, if it relies on server-side state."""
    refers: bool = False
    """Whether the request names items that the service has stored, in place of carrying them."""

    @property
    def relies(self) -> bool:
        """Whether the request relies on server-side state."""
        return self.refers or self.continues is not None

    @property
    def answers(self) -> tuple[Answered, ...]:
        """The tool results, in order."""
        return tuple(item for item in self.items if isinstance(item, Answered))

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The echoed tool calls, in order."""
        return tuple(item for item in self.items if isinstance(item, Asked))


def holds(result: str, text: str) -> bool:
    """Whether a result has the whole text that a tool returned: bare, among other words, or as a value in JSON.

    No service says how a result is written. Loops wrap it in an object, or say around it where it comes from; and where
    a tool has returned nothing but blanks they may say so in words.
    """
    if not text.strip() or text in result:
        return True
    if not result.lstrip().startswith(("{", "[", '"')):
        return False
    try:
        return any(text in value for value in texts_in(json.loads(result)))
    except (ValueError, RecursionError):
        return False


def texts_in(value: Any) -> Iterator[str]:
    """The texts of a JSON value, without the names of members."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(one)


def results_in_call_order(items: Iterable[Item]) -> list[Item]:
    """The history with the results of each turn in the order of their calls.

    No service asks for an order, and a loop whose tools run at the same time may answer in the order in which they end.
    """
    ordered: list[Item] = []
    places: dict[str, int] = {}
    for answers, group in groupby(items, lambda item: isinstance(item, Answered)):
        if answers:
            results = [item for item in group if isinstance(item, Answered)]
            results.sort(key=lambda result: places.get(result.id, -1))
            ordered += results
            continue
        for item in group:
            if isinstance(item, Asked):
                places[item.id] = len(ordered)
            ordered.append(item)
    return ordered


def same_arguments(one: str, other: str) -> bool:
    """Whether two argument texts are the same JSON value, or the same text if either is not JSON.

    Blank text and ``{}`` are equal: a model without arguments writes either.
    """
    if one == other:
        return True
    try:
        return same_value(parsed(one), parsed(other))
    except ValueError:
        return False


def same_value(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. 1 and 1.0 are; 1 and true are not, unlike in Python."""
    return canonical(one) == canonical(other)


def leaves(value: Any) -> Iterator[str]:
    """The keys and leaves of a JSON value, each as text; null is not a leaf."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif value is not None:
        yield value if isinstance(value, str) else canonical(value)


def is_encoded_twice(arguments: str) -> bool:
    """Whether an argument text is a JSON text in which an object is encoded."""
    try:
        inner = parsed(arguments)
        return isinstance(inner, str) and isinstance(json.loads(inner), dict)
    except ValueError:
        return False


@lru_cache(maxsize=512)
def spelled(arguments: str) -> str:
    """The canonical spelling of an argument text; the text itself if it is not JSON."""
    try:
        return canonical(parsed(arguments))
    except ValueError:
        return arguments


def parsed(arguments: str) -> Any:
    """The JSON value of an argument text. Raises ValueError if it is not JSON."""
    return json.loads(arguments) if arguments.strip() else {}
