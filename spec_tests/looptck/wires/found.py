"""Values of a recorded reply, each with its place for error messages.

Replies come from all kinds of servers and from files that people edit. A reader expects each member to have the type
that its wire defines; for any other type it raises ``NoTurn`` and no other error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from looptck.values.frozen import dataclass

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
        """An error that says what was expected here."""
        return NoTurn(f"{expected}: {self.place.strip() or 'the reply'} is {self._shown}")

    @property
    def nothing(self) -> bool:
        """Whether the value is null or missing."""
        return self.value is None or self.value is _ABSENT

    @property
    def fields(self) -> Mapping[str, Any]:
        """The value as an object."""
        if not isinstance(self.value, dict):
            raise self.but("an object was expected")
        return self.value

    def __getitem__(self, name: str) -> Found:
        """A member of the value, which must be an object; the member may be missing."""
        return Found(self.fields.get(name, _ABSENT), f"{self.place}/{name}")

    def __iter__(self) -> Iterator[Found]:
        """The entries of the value, which must be a list."""
        if not isinstance(self.value, list):
            raise self.but("a list was expected")
        return (Found(entry, f"{self.place}/{number}") for number, entry in enumerate(self.value))

    @property
    def text(self) -> str:
        """The value as a string."""
        if not isinstance(self.value, str):
            raise self.but("a text was expected")
        return self.value

    @property
    def text_if_any(self) -> str | None:
        """The value as a string; None if it is null or missing."""
        return None if self.nothing else self.text

    @property
    def entries(self) -> list[Found]:
        """The entries of the value, which must be a list; empty if it is null or missing."""
        return [] if self.nothing else [*self]

    @property
    def number(self) -> int:
        """The value as an integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.but("a number was expected")
        return self.value

    @property
    def parsed(self) -> Found:
        """The JSON value that the string contains."""
        return Found(parsed(self.text, self.place), self.place)

    @property
    def _shown(self) -> str:
        if self.value is _ABSENT:
            return "missing"
        return _cut(written(self))


def written(found: Found) -> str:
    """A value as JSON text. Raises NoTurn if it is nested too deeply."""
    try:
        return json.dumps(found.value, ensure_ascii=False)
    except RecursionError as error:
        raise NoTurn(f"something simpler was expected: {found.place or 'the reply'} is too deep") from error


def parsed(text: str, place: str = "") -> Any:
    """The JSON value of a text. Raises NoTurn if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise NoTurn(f"JSON was expected: {place or 'the reply'} is {_cut(json.dumps(text))}, {error}") from error
    except RecursionError as error:
        raise NoTurn(f"JSON was expected: {place or 'the reply'} is too deep") from error


def body(text: str) -> Found:
    """A plain reply. Raises NoTurn if it is not JSON."""
    return Found(parsed(text))


def _cut(shown: str) -> str:
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
