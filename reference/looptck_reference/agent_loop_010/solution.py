"""The Solution of a Request, read while the model still writes it.

A Solution is one JSON document: `{"meta": {…}, "calls": [Call…], "output": … | null}`, with its members in any order
(Agent/Tool, "Composing the Solution"). Calls are to start before the document ends (Agent/Loop, "Request & Call
Streaming"), so two parsers share the work: an incremental parser returns each Call as soon as its closing brace
arrives, and the complete text is parsed once more at the end. Only the latter decides what the Solution is.
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

from looptck_reference.vocabulary.values import Json

__all__ = ["Reader", "Solution", "Unreadable"]

DEPTH = 100
"""The maximum nesting depth of a Solution. Models that repeat themselves endlessly write `[[[[`, and recursive
functions would exceed their limit on such a text."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A completely parsed document: an object in which `calls`, if present, is an array."""

    document: Json

    @property
    def calls(self) -> list[Any]:
        """The Calls as the model wrote them; each of them is validated elsewhere."""
        return self.document.get("calls") or []

    @property
    def has_output(self) -> bool:
        """Whether there is an output, even null."""
        return "output" in self.document

    @property
    def output(self) -> Any:
        """The output; null if there is none."""
        return self.document.get("output")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The model's text is not a Solution; Calls that were returned before remain valid."""

    reason: str


class Reader:
    """Parses the text of one Request from pieces, wherever they are cut, and returns each Call once it is complete."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._halves = codecs.getincrementaldecoder("utf-16-le")("replace")
        self._events = ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self._events)
        self._calls = _Calls()
        self._refusal: str | None = None

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def feed(self, piece: str) -> list[Any]:
        """The Calls that this piece of text completes.

        Servers may cut text between the two halves of a surrogate pair; the first half waits here for the second.
        """
        piece = self._halves.decode(piece.encode("utf-16-le", "surrogatepass"))
        if piece:
            self._pieces.append(piece)
        return [] if self._refusal or not piece else self._calls_in(piece)

    def close(self) -> Solution | Unreadable:
        """The text has ended: return the Solution, or why there is none.

        A text that the incremental parser rejected is not a Solution; otherwise Calls that it never returned would be
        lost silently.
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
    """Takes a parser's events; returns each element of the array under `calls` of the outermost object."""

    def __init__(self) -> None:
        self._depth = 0
        self._key: str | None = None
        self._inside = False
        self._element: ijson.ObjectBuilder | None = None

    def add(self, event: str, value: Any) -> list[Any]:
        """The element that this event completes, if any.

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
    """A number with a fraction or an exponent, parsed in the same way by both parsers."""
    number = float(written)
    if math.isinf(number):
        raise ValueError(f"{written} is too large a number")
    return number


def _not_json(constant: str) -> NoReturn:
    """Reject NaN and Infinity, which Python's parser accepts and JSON does not."""
    message = f"{constant} is not JSON"
    raise ValueError(message)
