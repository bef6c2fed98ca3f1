"""Dialects: what a server does otherwise than the wire's own service, in ``fixtures/dialects/NAME.yaml``.

The encoders write each turn as the wire's own service was seen to send it. A recording is held against what they write
for the same turn, in shape: every difference has to be declared, with its reason, and every declaration has to be shown
by a recording.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from looptck.cassettes.cassette import Cassette, Exchange
from looptck.cassettes.shape import differences, events_of, shape_of
from looptck.catalogue import catalogue, unknown
from looptck.data import fixture
from looptck.framing import NATURAL
from looptck.turns import Turn
from looptck.wires import WIRES
from looptck.yamlfile import BadFile, load

Side = Literal["recorded", "written"]
"""Whether something was recorded and is never written, or the reverse."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference in shape between what was recorded and what is written."""

    wire: str
    stream: bool
    side: Side
    line: str
    """See ``looptck.cassettes.shape``."""

    def __str__(self) -> str:
        other = "never written" if self.side == "recorded" else "never recorded"
        return f"{self.side} and {other}: {self.line}"


@dataclass(frozen=True, slots=True)
class Deviation:
    """What a server does otherwise; each of its patterns is a line in which ``*`` stands for any text."""

    wire: str
    stream: bool | None
    """None: plain and stream."""
    patterns: tuple[tuple[Side, str], ...]
    why: str

    def shown_by(self, found: Difference) -> Iterator[tuple[Side, str]]:
        """Those of its patterns that a difference shows."""
        if (self.wire, self.stream in {None, found.stream}) == (found.wire, True):
            yield from (one for one in self.patterns if one[0] == found.side and _pattern(one[1]).fullmatch(found.line))


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a server cannot say, so that it is not recorded."""

    wire: str
    stream: bool | None
    scenarios: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """Recordings that only a tolerant loop reads: the one requirement that is judged on them."""

    wire: str
    stream: bool | None
    scenarios: tuple[str, ...]
    """Empty: all of them."""
    requirement: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's way of speaking the wires."""

    name: str
    path: Path
    deviations: tuple[Deviation, ...]
    judged_by: tuple[JudgedBy, ...]
    unsupported: tuple[Unsupported, ...]

    def requirement(self, wire: str, scenario: str, *, stream: bool) -> str | None:
        """The one requirement that is judged on a recording; None: all that fit."""
        for one in self.judged_by:
            if one.wire == wire and one.stream in {None, stream} and (not one.scenarios or scenario in one.scenarios):
                return one.requirement
        return None

    def silent(self, wire: str, scenario: str, *, stream: bool) -> str | None:
        """Why the server cannot say a scenario; None where it can."""
        for one in self.unsupported:
            if one.wire == wire and one.stream in {None, stream} and scenario in one.scenarios:
                return one.why
        return None


def dialect(name: str) -> Dialect | None:
    """The dialect of this name; None for the wires' own services, which have none.

    Raises:
        BadFile: there is no such file, or its schema does not accept it.
    """
    if not name:
        return None
    path = fixture(f"dialects/{name}.yaml")
    if not path.is_file():
        known = sorted(other.stem for other in path.parent.glob("*.yaml"))
        raise BadFile(path, f"is not there: {unknown('dialect', name, known)}")
    return read(path)


def spoken(cassette: Cassette) -> Dialect | None:
    """The dialect of a cassette; None for the vendor's own. Raises BadFile, with the cassette, where there is none."""
    try:
        return dialect(cassette.provenance.dialect)
    except BadFile as error:
        raise BadFile(cassette.path, f"/provenance/dialect: {error}") from error


@cache
def read(path: Path) -> Dialect:
    """The dialect in a file. Raises BadFile where its schema does not accept it."""
    data = load(path, fixture("dialects/dialect.schema.json"))
    ids = [requirement.id for requirement in catalogue()]
    for row in data.get("judged_by", ()):
        if row["requirement"] not in ids:
            raise BadFile(path, unknown("requirement", row["requirement"], ids))
    return Dialect(
        path.stem,
        path,
        tuple(_deviation(row) for row in data["deviations"]),
        tuple(
            JudgedBy(row["wire"], _mode(row), tuple(row.get("scenarios", ())), row["requirement"])
            for row in data.get("judged_by", ())
        ),
        tuple(
            Unsupported(row["wire"], _mode(row), tuple(row["scenarios"]), row["why"])
            for row in data.get("unsupported", ())
        ),
    )


def observed(cassette: Cassette) -> set[Difference]:
    """The differences between a recording and what the encoders write for its turns."""
    found: set[Difference] = set()
    for n, exchange in enumerate(cassette.exchanges, 1):
        turn = exchange.turn
        if turn is None or not WIRES[cassette.wire].can_say(turn, stream=cassette.stream):
            continue
        body = None if exchange.reply.streamed else json.loads(exchange.reply.body)
        seen = differences(
            shape_of(events_of(exchange.reply, body)), shape_of(_written(cassette, exchange, turn.numbered(n), n))
        )
        found |= {Difference(cassette.wire, cassette.stream, "recorded", line) for line in seen.left}
        found |= {Difference(cassette.wire, cassette.stream, "written", line) for line in seen.right}
    return found


def undeclared(found: set[Difference], known: Dialect | None) -> list[Difference]:
    """The differences that the dialect does not declare, in order."""
    deviations = known.deviations if known else ()
    new = (one for one in found if not any(any(deviation.shown_by(one)) for deviation in deviations))
    return sorted(new, key=lambda one: (one.side, one.line))


def stale(found: Sequence[Difference], known: Dialect) -> list[str]:
    """The declared patterns that no difference shows, each with its deviation."""
    told = []
    for deviation in known.deviations:
        shown = {pattern for one in found for pattern in deviation.shown_by(one)}
        told += [f"{deviation.wire}: {side}: {line}" for side, line in deviation.patterns if (side, line) not in shown]
    return told


def _written(cassette: Cassette, exchange: Exchange, turn: Turn, n: int) -> Sequence[Any]:
    """What the encoders write; with a chunk of usage where the request asked for one."""
    wire = WIRES[cassette.wire]
    if not cassette.stream:
        return [wire.body(turn, n, NATURAL)]
    options = exchange.body.get("stream_options") or {}
    return wire.events(turn, n, NATURAL.but(usage=bool(options.get("include_usage"))))


def _deviation(row: dict[str, Any]) -> Deviation:
    sides: tuple[Side, ...] = ("recorded", "written")
    patterns = tuple((side, line) for side in sides for line in row.get(side, ()))
    return Deviation(row["wire"], _mode(row), patterns, row["why"])


def _mode(row: dict[str, Any]) -> bool | None:
    return {"plain": False, "stream": True}.get(row.get("mode", ""))


@cache
def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, line.split("*"))))
