"""Values of a recorded reply, each with its place, which errors name.

Replies come from servers of any make and from files that people edit. A reader takes each member for the type that its
wire defines; where it is of another type, ``NoTurn`` is the only error that is raised.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ABSENT = object()
_SHOWN = 80


class NoTurn(ValueError):
    """A reply without a readable turn: what was expected, then the place and the value there."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value of a reply."""

    value: Any
    place: str = ""
    """A JSON pointer; in a stream it follows the number of the event that it points into."""

    def but(self, expected: str) -> NoTurn:
        """The error that something else was expected here."""
        return NoTurn(f"{expected}: {self.place.strip() or 'the reply'} is {self._shown}")

    @property
    def nothing(self) -> bool:
        """Whether it is null, or not there at all."""
        return self.value is None or self.value is _ABSENT

    @property
    def fields(self) -> Mapping[str, Any]:
        """The object that it is."""
        if not isinstance(self.value, dict):
            raise self.but("an object was expected")
        return self.value

    def __getitem__(self, name: str) -> Found:
        """A member of the object that it is; it may not be there."""
        return Found(self.fields.get(name, _ABSENT), f"{self.place}/{name}")

    def __iter__(self) -> Iterator[Found]:
        """The entries of the list that it is."""
        if not isinstance(self.value, list):
            raise self.but("a list was expected")
        return (Found(entry, f"{self.place}/{number}") for number, entry in enumerate(self.value))

    @property
    def text(self) -> str:
        """The text that it is."""
        if not isinstance(self.value, str):
            raise self.but("a text was expected")
        return self.value

    @property
    def text_if_any(self) -> str | None:
        """The text that it is, None for nothing."""
        return None if self.nothing else self.text

    @property
    def entries(self) -> list[Found]:
        """The entries of the list that it is; none, where there is nothing."""
        return [] if self.nothing else [*self]

    @property
    def number(self) -> int:
        """The whole number that it is."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.but("a number was expected")
        return self.value

    @property
    def parsed(self) -> Found:
        """What the text that it is says in JSON."""
        return Found(parsed(self.text, self.place), self.place)

    @property
    def _shown(self) -> str:
        if self.value is _ABSENT:
            return "missing"
        return _cut(written(self))


def written(found: Found) -> str:
    """A value as JSON. Raises NoTurn where it is too deep for that."""
    try:
        return json.dumps(found.value, ensure_ascii=False)
    except RecursionError as error:
        raise NoTurn(f"something simpler was expected: {found.place or 'the reply'} is too deep") from error


def parsed(text: str, place: str = "") -> Any:
    """The JSON that a text is. Raises NoTurn where it is none."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise NoTurn(f"JSON was expected: {place or 'the reply'} is {_cut(json.dumps(text))}, {error}") from error
    except RecursionError as error:
        raise NoTurn(f"JSON was expected: {place or 'the reply'} is too deep") from error


def body(text: str) -> Found:
    """A plain reply. Raises NoTurn where it is no JSON."""
    return Found(parsed(text))


def _cut(shown: str) -> str:
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
