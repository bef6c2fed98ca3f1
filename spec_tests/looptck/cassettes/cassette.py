"""One cassette: read from its file, refused where it cannot be played, and played.

What matters is the replies' bytes. The turns that they said are read from them here, so that the kit knows what a loop
should have understood.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from looptck.agents import Tool
from looptck.cassettes.events import redressed, stream_events
from looptck.cassettes.form import BadForm, Interaction, Provenance, told, told_chunks
from looptck.catalogue import unknown
from looptck.cells import Cell
from looptck.data import fixture
from looptck.framing import Framing
from looptck.history import Request, Said
from looptck.provider.script import Recorded, Step
from looptck.turns import Call, Turn
from looptck.wires import WIRES
from looptck.wires.wire import CUT
from looptck.yamlfile import BadFile, load

CHUNKS = ".chunks"
"""What stands between the name of a cassette and ``.yaml`` in the name of the file with its chunks."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, as JSON and told neutrally, and what was answered to it."""

    body: Any
    request: Request
    reply: Recorded
    turn: Turn | None
    """None: the reply is an error, or the connection broke off."""


@dataclass(frozen=True, slots=True)
class Cassette:
    """A whole recorded conversation: its last reply ends it."""

    path: Path
    wire: str
    stream: bool
    provenance: Provenance
    exchanges: tuple[Exchange, ...]
    dress: Framing | None = None
    """The dress in which its streams are played; None: the bytes as they were recorded."""

    @property
    def scenario(self) -> str:
        """The name of the case that was recorded."""
        return self.path.stem.rpartition("-")[0]

    @property
    def name(self) -> str:
        """The scenario and whose traffic it is: what reports and ``--case`` call it."""
        return f"{self.scenario}@{self.provenance.dialect or 'vendor'}"

    def fits(self, cell: Cell) -> bool:
        """Whether it is played in this cell."""
        return (cell.wire, cell.stream) == (self.wire, self.stream)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What the model said, one turn for each reply that said one."""
        return tuple(exchange.turn for exchange in self.exchanges if exchange.turn is not None)

    @property
    def followed(self) -> tuple[Turn, ...]:
        """The turns that the recording client went on from, which ran their calls."""
        return self.turns[: len(self.exchanges) - 1]

    @property
    def prompt(self) -> tuple[tuple[str, str], ...]:
        """Roles and texts of the first request."""
        return tuple((item.role, item.text) for item in self.exchanges[0].request.items if isinstance(item, Said))

    @property
    def question(self) -> str:
        """What the user asked."""
        return self.prompt[-1][1]

    @property
    def tools(self) -> list[Tool]:
        """The tools that were offered."""
        return [Tool(tool.name, tool.description, tool.parameters) for tool in self.exchanges[0].request.tools]

    @property
    def results(self) -> dict[str, list[str]]:
        """What each tool returned, in the order of its calls."""
        texts = {answer.id: answer.text for answer in self.exchanges[-1].request.answers}
        results: dict[str, list[str]] = defaultdict(list)
        for call in _calls(self.followed):
            results[call.tool].append(texts[call.id or ""])
        return dict(results)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The script that plays it: reply ``n`` answers request ``n``."""
        replies = (one.reply if self.dress is None else redressed(one.reply, self.dress) for one in self.exchanges)
        return tuple(Step(one.turn, recorded=reply) for one, reply in zip(self.exchanges, replies, strict=True))


def read(path: Path) -> Cassette:
    """The cassette in a file, which the schema, its own hash and the wire's reader must accept.

    Raises:
        BadFile: they do not; with the place.
    """
    data = load(path, fixture("cassette.schema.json"), foreign=True)
    wire, (_, _, mode) = path.parent.name, path.stem.rpartition("-")
    if wire not in WIRES:
        raise BadFile(path, unknown("wire", wire, list(WIRES)))
    if mode not in {"plain", "stream"}:
        raise BadFile(path, "its name ends in neither -plain nor -stream")
    try:
        provenance, rows = told(data)
    except BadForm as error:
        raise BadFile(path, str(error)) from error
    ends = _ends(path, data["provenance"]["sha256"], rows)
    exchanges = tuple(_exchange(path, wire, place, row, ends[place]) for place, row in enumerate(rows))
    stream = mode == "stream"
    if any(exchange.request.stream != stream for exchange in exchanges):
        raise BadFile(path, f"its name says {mode}, but a request in it asks for the other mode")
    cassette = Cassette(path, wire, stream, provenance, exchanges)
    _ended(cassette)
    return cassette


def chunks_path(path: Path) -> Path:
    """Where the chunks of a cassette lie, if they were kept."""
    return path.with_name(f"{path.stem}{CHUNKS}.yaml")


def _ends(path: Path, sha256: str, rows: Sequence[Interaction]) -> list[tuple[int, ...]]:
    """Where the chunks of each reply end; nowhere, if they were not kept."""
    path = chunks_path(path)
    if not path.exists():
        return [()] * len(rows)
    data = load(path, fixture("cassette-chunks.schema.json"), foreign=True)
    if data["cassette"] != sha256:
        raise BadFile(path, "/cassette: is not the hash of the cassette beside it")
    chunks = told_chunks(data)
    if len(chunks) != len(rows):
        raise BadFile(path, f"/interactions: are {len(chunks)}, where the cassette has {len(rows)}")
    for place, (one, row) in enumerate(zip(chunks, rows, strict=True)):
        pointer = f"/interactions/{place}"
        if list(one.ends) != sorted(set(one.ends)) or (one.ends or (0,))[-1] != len(row.body):
            raise BadFile(path, f"{pointer}/ends: do not rise to the length of the body, which is {len(row.body)}")
        if list(one.times) != sorted(one.times) or len(one.times) != len(one.ends):
            raise BadFile(path, f"{pointer}/ms: do not rise, one for each chunk")
    return [one.ends for one in chunks]


def _exchange(path: Path, wire: str, place: int, row: Interaction, ends: tuple[int, ...]) -> Exchange:
    reply = Recorded(row.status, tuple(row.headers.items()), row.body, ends, row.broken)
    pointer = f"/interactions/{place}"
    if row.path != f"/v1{WIRES[wire].route}":
        raise BadFile(path, f"{pointer}/request/path: is not that of {wire}, /v1{WIRES[wire].route}")
    turn = None
    if row.status < 400 and not row.broken:
        try:
            turn = WIRES[wire].turn(row.body.decode(), reply.streamed)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise BadFile(path, f"{pointer}/response/body: says no turn: {error!r}") from error
        reply = replace(reply, id=_id(reply))
    return Exchange(row.request, WIRES[wire].service(True).read(row.request), reply, turn)


def _id(reply: Recorded) -> str | None:
    """The id of a reply that says a turn."""
    first = next(stream_events(reply.body)).value if reply.streamed else json.loads(reply.body)
    id = (first.get("response") or first.get("message") or first).get("id")
    return id if isinstance(id, str) else None


def _ended(cassette: Cassette) -> None:
    """Raises BadFile where the conversation is not whole."""
    path, exchanges = cassette.path, cassette.exchanges
    for place, exchange in enumerate(exchanges[:-1]):
        if exchange.turn is None:
            raise BadFile(path, f"/interactions/{place}/response: says no turn, but the conversation goes on")
    last = exchanges[-1]
    pointer = f"/interactions/{len(exchanges) - 1}"
    if last.turn is not None and last.turn.calls and last.turn.stopped not in CUT:
        raise BadFile(path, f"{pointer}/response: the last turn still asks for tools")
    answered = {answer.id for answer in last.request.answers}
    missing = [call.id for call in _calls(cassette.followed) if call.id not in answered]
    if missing:
        raise BadFile(path, f"{pointer}/request/body: does not answer the call {missing[0]}")


def _calls(turns: Sequence[Turn]) -> Iterator[Call]:
    return (call for turn in turns for call in turn.calls)
