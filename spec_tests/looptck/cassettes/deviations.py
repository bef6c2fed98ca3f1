"""Deviations of a server from the wire's own service, in ``fixtures/deviations/NAME.yaml``.

The encoders write each turn as the wire's own service sends it. The structure of a recording is compared with what they
write for the same turn: every difference must be declared with its reason, and every declared one must be shown by a
recording. NAME is the ``dialect`` of a recording's provenance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from looptck.cassettes.cassette import Cassette, RecordedExchange
from looptck.cassettes.structure import differences, reply_structure, structure_of
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import catalogue, unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.framing import DEFAULT
from looptck.values.frozen import dataclass
from looptck.values.turns import Turn
from looptck.wires import WIRES

Side = Literal["recorded", "written"]
"""Whether a line was recorded and is never written by the encoders, or the reverse."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference in structure between a recording and what the encoders write."""

    wire: str
    stream: bool
    side: Side
    line: str
    """See ``looptck.cassettes.structure``."""

    def __str__(self) -> str:
        other = "never written" if self.side == "recorded" else "never recorded"
        return f"{self.side} and {other}: {self.line}"


@dataclass(frozen=True, slots=True)
class Deviation:
    """One deviation of a server; each of its patterns is a line in which ``*`` matches any text."""

    wire: str
    stream: bool | None
    """None: plain and stream."""
    patterns: tuple[tuple[Side, str], ...]
    why: str

    def shown_by(self, found: Difference) -> Iterator[tuple[Side, str]]:
        """The patterns that match a difference."""
        if (self.wire, self.stream in {None, found.stream}) == (found.wire, True):
            yield from (one for one in self.patterns if one[0] == found.side and _pattern(one[1]).fullmatch(found.line))


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Scenarios that a server cannot say, which are not recorded."""

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
class ServerDeviations:
    """The deviations of one server, on all wires."""

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

    def why_unsupported(self, wire: str, scenario: str, *, stream: bool) -> str | None:
        """Why the server cannot say a scenario; None if it can."""
        for one in self.unsupported:
            if one.wire == wire and one.stream in {None, stream} and scenario in one.scenarios:
                return one.why
        return None


def server_deviations(name: str) -> ServerDeviations | None:
    """The deviations in the file of this name; None for the name ``""``: the wires' own services have none.

    Raises:
        BadFile: there is no such file, or its schema does not accept it.
    """
    if not name:
        return None
    folder = fixture("deviations")
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in known:  # it may be the name of any file at all, as it comes from anywhere
        raise BadFile(folder, f"the file is not there: {unknown('dialect', name, known)}")
    return read(folder / f"{name}.yaml")


def all_deviations() -> list[ServerDeviations]:
    """The deviations of all servers that looptck knows."""
    return [read(path) for path in sorted(fixture("deviations").glob("*.yaml"))]


def deviations_of(cassette: Cassette) -> ServerDeviations | None:
    """The deviations of a cassette's server; None for the vendor's own. Raises BadFile if their file is missing."""
    try:
        return server_deviations(cassette.provenance.dialect)
    except BadFile as error:
        raise BadFile(cassette.path, f"/provenance/dialect: {error}") from error


@cache
def read(path: Path) -> ServerDeviations:
    """The deviations in a file. Raises BadFile if its schema does not accept it."""
    data = load(path, fixture("deviations/deviations.schema.json"))
    ids = [requirement.id for requirement in catalogue()]
    for row in data.get("judged_by", ()):
        if row["requirement"] not in ids:
            raise BadFile(path, unknown("requirement", row["requirement"], ids))
    return ServerDeviations(
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
        written = structure_of(_written(cassette, exchange, turn.numbered(n), n))
        seen = differences(reply_structure(exchange.reply), written)
        found |= {Difference(cassette.wire, cassette.stream, "recorded", line) for line in seen.left}
        found |= {Difference(cassette.wire, cassette.stream, "written", line) for line in seen.right}
    return found


def undeclared(found: set[Difference], known: ServerDeviations | None) -> list[Difference]:
    """The differences that are not declared, in order."""
    deviations = known.deviations if known else ()
    new = (one for one in found if not any(any(deviation.shown_by(one)) for deviation in deviations))
    return sorted(new, key=lambda one: (one.side, one.line))


def stale(found: Sequence[Difference], known: ServerDeviations) -> list[str]:
    """The declared patterns that no difference shows, each with its deviation."""
    lines = []
    for deviation in known.deviations:
        shown = {pattern for one in found for pattern in deviation.shown_by(one)}
        lines += [f"{deviation.wire}: {side}: {line}" for side, line in deviation.patterns if (side, line) not in shown]
    return lines


def _written(cassette: Cassette, exchange: RecordedExchange, turn: Turn, n: int) -> Sequence[Any]:
    """What the encoders write; with a chunk of usage if the request asked for one."""
    wire = WIRES[cassette.wire]
    if not cassette.stream:
        return [wire.body(turn, n, DEFAULT)]
    options = exchange.body.get("stream_options") or {}
    return wire.events(turn, n, DEFAULT.but(usage=bool(options.get("include_usage"))))


def _deviation(row: dict[str, Any]) -> Deviation:
    sides: tuple[Side, ...] = ("recorded", "written")
    patterns = tuple((side, line) for side in sides for line in row.get(side, ()))
    return Deviation(row["wire"], _mode(row), patterns, row["why"])


def _mode(row: dict[str, Any]) -> bool | None:
    return {"plain": False, "stream": True}.get(row.get("mode", ""))


@cache
def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, line.split("*"))))
