"""Outcomes: how a run ended for the caller of the loop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.plain import plain

OVER = "looptck: the script ends before request"
"""What looptck says, with its number, to a request for which its script has no turn."""


@dataclass(frozen=True, slots=True)
class Value:
    """The loop returned. ``stop`` is the stop reason that it reported to its caller; None: it reported none.

    ``output`` is the JSON value of a loop that returns a value instead of a text; None: it returned no such value.
    ``usage`` has the numbers of tokens that it told its caller, by their names in the protocol, and ``not_numbers`` the
    names of those that were NaN.
    """

    text: str | None
    stop: str | None = None
    output: Any = None
    usage: Mapping[str, float] | None = None
    not_numbers: tuple[str, ...] = ()

    def __str__(self) -> str:
        reason = f", with the stop reason {self.stop}" if self.stop else ""
        if self.output is None:
            return f"returned {shortened(self.text)}{reason}"
        text = "" if self.text is None else f" and the text {shortened(self.text)}"
        return f"returned the output {shortened(self.output)}{text}{reason}"


UNSTREAMED = "NotAStream"
"""The type of `Failed` where a client that asked for a stream got a reply with the content type of something else."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The loop raised. ``reason`` is the driver's reading of the error, from the protocol's list."""

    reason: str
    type: str
    message: str
    escaped: bool = False
    """Whether no caller could have caught it: in Node.js it ends the process."""
    bases: tuple[str, ...] = field(default=(), compare=False)
    """The names of the classes that its type extends, the nearest first; empty if the driver does not say."""

    def is_a(self, type: str) -> bool:
        """Whether the error is of this type, or of one that extends it."""
        return type in (self.type, *self.bases)

    def __str__(self) -> str:
        where = ", where no caller can catch it" if self.escaped else ""
        if over := re.search(rf"{OVER} (\d+)", self.message):
            return (
                f"asked for more turns than the script has, and raised {self.type} because looptck refused request "
                f"{over[1]} (reason: {self.reason}{where})"
            )
        return f"raised {self.type}: {shortened(self.message, 300)} (reason: {self.reason}{where})"


@dataclass(frozen=True, slots=True)
class Nothing:
    """The watchdog ended the run: it had no outcome within this number of seconds."""

    seconds: float
    still: bool = False
    """Whether it was ended earlier, since all its threads waited without a time limit, for what nobody would send."""

    def __str__(self) -> str:
        return "gave no outcome and waits for ever" if self.still else f"gave no outcome within {self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that waits for a decision, which names it by ``id``."""

    id: str
    tool: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Suspended:
    """The loop waits for decisions about these calls; ``state`` is what its driver needs to resume the run."""

    state: Any
    calls: tuple[Pending, ...]

    def __str__(self) -> str:
        return f"was suspended before {', '.join(call.tool for call in self.calls)}"


Outcome = Value | Failed | Suspended | Nothing


def from_message(message: dict[str, Any]) -> Outcome:
    """The outcome in a driver's ``finished`` message, which the protocol's schema has accepted."""
    if message["kind"] == "value":
        told = {name: count for name, count in (message.get("usage") or {}).items() if count is not None}
        odd = tuple(told.pop("not_numbers", ()))
        return Value(message["text"], message.get("stop"), message.get("output"), told or None, odd)
    if message["kind"] == "suspended":
        calls = (Pending(one["id"], one["name"], one["arguments"]) for one in message["calls"])
        return Suspended(message["state"], tuple(calls))
    bases, escaped = tuple(message.get("bases", ())), message.get("escaped", False)
    return Failed(message["reason"], message["type"], message["message"], escaped, bases)


def serializable(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a JSON object."""
    said = {name: value for name, value in asdict(outcome).items() if name != "not_numbers" or value}
    return {"kind": type(outcome).__name__.lower(), **said}


def shortened(value: object, most: int = 120) -> str:
    """A value in plain words, cut in the middle if it is long."""
    return "nothing" if value is None else plain(value, most)
