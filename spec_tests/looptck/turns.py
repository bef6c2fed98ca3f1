"""Turns: what a model says, told neutrally.

A turn is written once and each wire dresses it in its own body or event stream. Values only: nothing here knows a wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Stop = Literal["end", "calls", "length", "content_filter"]
"""Why the model stopped: it was done, it wants tools run, it hit the token limit, the content filter cut it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model writes it.

    ``arguments`` is JSON text, kept as text because a model may write it badly; ``id`` is None until a script gives
    the call one.
    """

    tool: str
    arguments: str = "{}"
    id: str | None = None

    @classmethod
    def of(cls, tool: str, arguments: Mapping[str, Any] | None = None, *, id: str | None = None) -> Call:
        """A call with well-formed arguments."""
        return cls(tool, json.dumps(arguments or {}, ensure_ascii=False), id)


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model. ``text`` None means that it wrote none; a ``stop`` of None follows from the calls."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    stop: Stop | None = None
    refusal: str | None = None

    @property
    def stopped(self) -> Stop:
        """The stop reason, with the default filled in."""
        if self.stop is not None:
            return self.stop
        return "calls" if self.calls else "end"

    def numbered(self, n: int) -> Turn:
        """The same turn, as the ``n``-th of a script (from 1): calls without an id get ``call_1a``, ``call_1b``."""
        calls = tuple(
            call if call.id is not None else replace(call, id=f"call_{n}{_letters(position)}")
            for position, call in enumerate(self.calls)
        )
        return replace(self, calls=calls)


def says(text: str | None, *, stop: Stop | None = None) -> Turn:
    """A turn of text alone."""
    return Turn(text=text, stop=stop)


def calls(*wanted: Call, text: str | None = None, stop: Stop | None = None) -> Turn:
    """A turn that asks for tools, with or without text before the calls."""
    return Turn(text=text, calls=wanted, stop=stop)


def refuses(text: str) -> Turn:
    """A turn in which the model declines to answer."""
    return Turn(refusal=text)


def _letters(position: int) -> str:
    """a, b, … z, ba, bb, …: short, and distinct for any number of calls."""
    letters = ""
    while True:
        position, digit = divmod(position, 26)
        letters = chr(ord("a") + digit) + letters
        if not position:
            return letters
