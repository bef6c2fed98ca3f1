"""The Solution of a Request, read while the model still writes it.

A Solution is one JSON document: `{"meta": {…}, "calls": [Call…], "output": … | null}`, with its members in any order
(Agent/Tool, "Composing the Solution"). Calls are worth having before the document ends (Agent/Loop, "Request & Call
Streaming"), so two readers share the work: an incremental one gives each Call the moment its closing brace is there,
and the whole text is parsed once it is complete, which alone decides what the Solution is.
"""

from __future__ import annotations

import codecs
import json
import math
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

import ijson

from looptck_reference.values import Json

__all__ = ["Reader", "Solution", "Unreadable"]

DEPTH = 100
"""How deeply a Solution may be nested. Models that repeat themselves for ever write `[[[[`, and some recursion on
what they wrote would find its end before they do."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A document that was read whole: an object in which `calls`, if there are any, are an array."""

    document: Json

    @property
    def calls(self) -> list[Any]:
        """The Calls as the model wrote them; whether each of them is one is not known here."""
        return self.document.get("calls") or []

    @property
    def has_output(self) -> bool:
        """Whether there is an output, be it null."""
        return "output" in self.document

    @property
    def output(self) -> Any:
        """The output; null if there is none."""
        return self.document.get("output")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What the model wrote is no Solution; Calls that were given before that was known stay given."""

    reason: str


class Reader:
    """Is fed the text of one Request in pieces, wherever they are cut, and gives each Call as soon as it is whole."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._halves = codecs.getincrementaldecoder("utf-16-le")("replace")
        self._events = ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self._events)
        self._calls = _Calls()
        self._refusal: str | None = None

    @property
    def text(self) -> str:
        """What was fed so far."""
        return "".join(self._pieces)

    def feed(self, piece: str) -> list[Any]:
        """The Calls that this piece of text completes.

        Servers cut text between the two halves of a surrogate pair; the first waits here for the second.
        """
        piece = self._halves.decode(piece.encode("utf-16-le", "surrogatepass"))
        if piece:
            self._pieces.append(piece)
        return [] if self._refusal or not piece else self._calls_in(piece)

    def close(self) -> Solution | Unreadable:
        """The text is at its end: what all of it is.

        What the incremental reader refused is no Solution, or Calls that it never gave would be lost silently.
        """
        self._pieces.append(self._halves.decode(b"", final=True))
        with suppress(ijson.JSONError):
            self._parser.close()
        try:
            document = json.loads(self.text, parse_constant=_not_json, parse_float=_number)
        except (ValueError, RecursionError) as error:
            return Unreadable(f"the Solution is not JSON: {error}")
        if self._refusal:
            return Unreadable(f"the Solution cannot be read: {self._refusal}")
        if not isinstance(document, dict):
            return Unreadable("the Solution is not a JSON object")
        if not isinstance(document.get("calls"), list | None):
            return Unreadable("/calls of the Solution is not an array")
        return Solution(document)

    def _calls_in(self, piece: str) -> list[Any]:
        calls: list[Any] = []
        try:
            try:
                self._parser.send(piece.encode())
            finally:
                for event, value in self._events:
                    calls += self._calls.add(event, value)
                self._events.clear()
        except (ijson.JSONError, ValueError, ArithmeticError) as error:
            self._refusal = str(error).partition("\n")[0]
        return calls


class _Calls:
    """Takes the events of a parser; gives each element of the array under `calls` of the outermost object."""

    def __init__(self) -> None:
        self._depth = 0
        self._key: str | None = None
        self._inside = False
        self._element: ijson.ObjectBuilder | None = None

    def add(self, event: str, value: Any) -> list[Any]:
        """The element that this event completes, if it completes one.

        Raises:
            ValueError: the document is nested too deeply, or has a number that is too large.
        """
        opens, closes = event.startswith("start"), event.startswith("end")
        self._depth -= closes
        whole = self._of_element(event, value, opens) if self._inside else []
        if self._depth == 1:
            self._key = value if event == "map_key" else self._key
            self._inside = event == "start_array" and self._key == "calls"
        self._depth += opens
        if self._depth > DEPTH:
            raise ValueError(f"it is nested more than {DEPTH} deep")
        return whole

    def _of_element(self, event: str, value: Any, opens: bool) -> list[Any]:
        if self._depth == 1:
            return []
        self._element = self._element or ijson.ObjectBuilder()
        self._element.event(event, _number(value) if isinstance(value, Decimal) else value)
        if opens or self._depth > 2:
            return []
        whole, self._element = self._element.value, None
        return [whole]


def _number(written: str | Decimal) -> float:
    """A number with a fraction or an exponent, as the reader of the whole and the incremental one both read it."""
    number = float(written)
    if math.isinf(number):
        raise ValueError(f"{written} is too large a number")
    return number


def _not_json(constant: str) -> NoReturn:
    """Python's parser takes NaN and Infinity; JSON does not."""
    message = f"{constant} is not JSON"
    raise ValueError(message)
