"""A wire as a compatible server speaks it: with its quirks in each reply, its requests judged by what it accepts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from looptck.catalogue.dialects import Accepted, Dialect
from looptck.values.framing import DEFAULT, PRESETS, Framing, together
from looptck.values.growth import Growth
from looptck.values.history import Request
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires.wire import Service, Wire

MOST = 200
"""The most places of a request at which a dialect is taken into account."""


def spoken(wire: Wire, dialect: Dialect) -> Wire:
    """The wire in this dialect; the same wire if the dialect does not concern it.

    A reply that a check gives a quirk has that one alone, and one that it gives a framing has that.

    Raises:
        ValueError: the dialect sends a quirk or a framing that the wire does not have.
    """
    quirks = dialect.sends.get(wire.name, ())
    usual = together([PRESETS[name] for name in dialect.framings.get(wire.name, ())])
    if not wire.carries_out(usual):
        raise ValueError(f"the dialect {dialect.name} has a framing that {wire.name} does not have")
    if strange := [quirk for quirk in quirks if quirk not in wire.changes]:
        raise ValueError(f"the dialect {dialect.name} sends the quirk {strange[0]}, which {wire.name} does not have")
    accepts = [one for one in dialect.accepts if one.wire == wire.name]
    if not quirks and not accepts and usual == DEFAULT:
        return wire
    changes = [wire.changes[quirk] for quirk in wire.changes if quirk in quirks]

    def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
        reply = wire.body(turn, n, framing)
        for change in changes if framing.quirk is None else ():
            reply = change.body(reply)
        return reply

    def events(turn: Turn, n: int, framing: Framing) -> list[object]:
        stream = wire.events(turn, n, framing)
        for change in changes if framing.quirk is None else ():
            stream = change.stream(stream)
        return stream

    return replace(
        wire,
        body=body,
        events=events,
        usual=usual,
        request_id="",
        service=lambda stateful: Lenient(wire.name, wire.service(stateful), accepts),
    )


class Lenient:
    """A ``Service`` that accepts what a dialect does."""

    def __init__(self, wire: str, service: Service, accepts: list[Accepted]) -> None:
        self._wire = wire
        self._service = service
        self._accepts = accepts

    def judge(
        self, body: object, headers: Mapping[str, str] | None = None, growth: Growth | None = None
    ) -> list[Problem]:
        """See ``Service``."""
        return without(self._wire, self._accepts, body, lambda shown: self._service.judge(shown, headers, None))

    def read(self, body: object, growth: Growth | None = None) -> Request:
        """See ``Service``."""
        return self._service.read(body, None)

    def replied(self, body: Any, n: int, turn: Turn, id: str | None = None) -> None:
        """See ``Service``."""
        self._service.replied(body, n, turn, id)

    def side(self, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """See ``Service``."""
        return self._service.side(method, path, query, body)

    def lose_state(self, why: str | None = None) -> None:
        """See ``Service``."""
        self._service.lose_state(why)


def without(
    wire: str, accepts: list[Accepted], body: object, judge: Callable[[object], list[Problem]]
) -> list[Problem]:
    """The problems of a request apart from those that a dialect accepts.

    What is accepted is shown to the judge as the service would have it, so that the rest of the request is judged too.
    """
    shown = body
    passed: set[tuple[str, str]] = set()
    for _ in range(MOST):
        left = [one for one in judge(shown) if (one.rule, one.pointer) not in passed]
        known = ((one, found) for one in left if (found := _accepted(accepts, wire, one)) is not None)
        first = next(known, None)
        if first is None:
            return left
        shown = copy.deepcopy(shown)
        if not _show(shown, first[0].pointer, first[1]):
            passed.add((first[0].rule, first[0].pointer))
    return left


def _accepted(accepts: list[Accepted], wire: str, problem: Problem) -> Accepted | None:
    return next((one for one in accepts if one.covers(wire, problem.rule, problem.pointer)), None)


def _show(body: object, pointer: str, accepted: Accepted) -> bool:
    """Change what the judge is shown; whether there was something to change."""
    parts = pointer.split("/")[1:]
    *above, last = parts[: len(parts) - accepted.up]
    holder: Any = body
    for part in above:
        holder = holder[int(part)] if isinstance(holder, list) else holder[part]
    place: Any = int(last) if isinstance(holder, list) else last
    if accepted.judged_as is not None:
        before = holder[place] if isinstance(holder, list) else holder.get(place)
        holder[place] = copy.deepcopy(accepted.judged_as)
        return bool(before != accepted.judged_as)
    there = place in holder if isinstance(holder, dict) else True
    del holder[place]
    return there
