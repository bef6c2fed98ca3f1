"""One cassette: read from its file, and refused if it cannot be played.

The recorded bytes of the replies are played. Their turns are decoded here, so that looptck knows
what a loop should read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck.cassettes.events import re_encoded, stream_events
from looptck.cassettes.file_format import BadForm, Interaction, Provenance, parse_cassette, parse_chunks
from looptck.catalogue.agents import Tool
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.provider.script import Recorded, Step
from looptck.values.cell import Cell
from looptck.values.framing import Framing
from looptck.values.frozen import dataclass
from looptck.values.history import Request, Said
from looptck.values.recorded import recording
from looptck.values.turns import Call, Turn
from looptck.wires import WIRES
from looptck.wires.wire import CUT

CHUNKS = ".chunks"
"""The file with the chunks of a cassette has this between the cassette's name and ``.yaml``."""


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request, as JSON and in provider-neutral form, and its reply."""

    body: Any
    request: Request
    reply: Recorded
    turn: Turn | None
    """None: the reply is an error, or the connection broke off."""


@dataclass(frozen=True, slots=True)
class Cassette:
    """A complete recorded conversation."""

    path: Path
    wire: str
    stream: bool
    provenance: Provenance
    exchanges: tuple[RecordedExchange, ...]
    encoding: Framing | None = None
    """The SSE encoding in which its streams are played; None: the recorded bytes."""

    @property
    def scenario(self) -> str:
        """The name of the case that was recorded."""
        return scenario_of(self.path)

    @property
    def name(self) -> str:
        """The scenario and the server's dialect: the name in reports and for ``--case``."""
        return recording(self.scenario, self.provenance.dialect or "vendor")

    @property
    def file(self) -> str:
        """``WIRE/SCENARIO-MODE``, the name of its file without the ending."""
        return f"{self.wire}/{self.path.stem}"

    def fits(self, cell: Cell) -> bool:
        """Whether it is played in this cell."""
        return (cell.wire, cell.stream) == (self.wire, self.stream)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The model's turns, one for each reply with a turn."""
        return tuple(exchange.turn for exchange in self.exchanges if exchange.turn is not None)

    @property
    def followed(self) -> tuple[Turn, ...]:
        """The turns after which the recording client made another request; their calls were run."""
        return self.turns[: len(self.exchanges) - 1]

    @property
    def prompt(self) -> tuple[tuple[str, str], ...]:
        """Roles and texts of the first request."""
        return tuple((item.role, item.text) for item in self.exchanges[0].request.items if isinstance(item, Said))

    @property
    def question(self) -> str:
        """The user's question."""
        return self.prompt[-1][1]

    @property
    def tools(self) -> list[Tool]:
        """The offered tools."""
        return [Tool(tool.name, tool.description, tool.parameters) for tool in self.exchanges[0].request.tools]

    @property
    def results(self) -> dict[str, list[str]]:
        """The results of each tool, in the order of its calls."""
        texts = {answer.id: answer.text for answer in self.exchanges[-1].request.answers}
        results: dict[str, list[str]] = defaultdict(list)
        for call in _calls(self.followed):
            results[call.tool].append(texts[call.id or ""])
        return dict(results)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The script that plays it: reply ``n`` answers request ``n``."""
        replies = (
            one.reply if self.encoding is None else re_encoded(one.reply, self.encoding) for one in self.exchanges
        )
        return tuple(Step(one.turn, recorded=reply) for one, reply in zip(self.exchanges, replies, strict=True))


def scenario_of(path: Path) -> str:
    """The scenario that a cassette's file is named after."""
    return path.stem.rpartition("-")[0]


def read(path: Path) -> Cassette:
    """The cassette in a file, checked by the schema, its hash and the wire's reader.

    Raises:
        BadFile: a check fails; the message names the place.
    """
    data = load(path, fixture("cassette.schema.json"), foreign=True)
    wire, (_, _, mode) = path.parent.name, path.stem.rpartition("-")
    if wire not in WIRES:
        raise BadFile(path, unknown("wire", wire, list(WIRES)))
    if mode not in {"plain", "stream"}:
        raise BadFile(path, "its name must end in -plain or -stream")
    try:
        provenance, rows = parse_cassette(data)
    except BadForm as error:
        raise BadFile(path, str(error)) from error
    ends = chunk_ends(path, data["provenance"]["sha256"], rows)
    exchanges = tuple(recorded_exchange(path, wire, place, row, ends[place]) for place, row in enumerate(rows))
    stream = mode == "stream"
    if any(exchange.request.stream != stream for exchange in exchanges):
        raise BadFile(path, f"its name says {mode}, but a request in it asks for the other mode")
    cassette = Cassette(path, wire, stream, provenance, exchanges)
    _check_complete(cassette)
    return cassette


def inside(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """Files in a folder, in order. Raises BadFile where a link leads to one of them that is elsewhere."""
    home = folder.resolve()
    found = sorted(paths)
    for path in found:
        if not path.parent.resolve().is_relative_to(home):
            raise BadFile(path, f"leads out of the folder {folder}")
    return found


def chunks_path(path: Path) -> Path:
    """The file with the chunks of a cassette, which may be missing."""
    return path.with_name(f"{path.stem}{CHUNKS}.yaml")


def chunk_ends(path: Path, sha256: str, rows: Sequence[Interaction]) -> list[tuple[int, ...]]:
    """The end of each chunk of each reply, in bytes; empty if the file of chunks is missing."""
    path = chunks_path(path)
    if not path.exists():
        return [()] * len(rows)
    data = load(path, fixture("cassette-chunks.schema.json"), foreign=True)
    if data["cassette"] != sha256:
        raise BadFile(path, "/cassette: is not the hash of the cassette")
    chunks = parse_chunks(data)
    if len(chunks) != len(rows):
        raise BadFile(path, f"/interactions: there are {len(chunks)}, but the cassette has {len(rows)}")
    for place, (one, row) in enumerate(zip(chunks, rows, strict=True)):
        pointer = f"/interactions/{place}"
        if list(one.ends) != sorted(set(one.ends)) or (one.ends or (0,))[-1] != len(row.body):
            raise BadFile(path, f"{pointer}/ends: must increase to the length of the body, {len(row.body)}")
        if list(one.times) != sorted(one.times) or len(one.times) != len(one.ends):
            raise BadFile(path, f"{pointer}/ms: must increase, one for each chunk")
    return [one.ends for one in chunks]


def recorded_exchange(path: Path, wire: str, place: int, row: Interaction, ends: tuple[int, ...]) -> RecordedExchange:
    """An exchange as it is played. Raises BadFile where its path is another wire's, or it holds no turn."""
    reply = Recorded(row.status, tuple(row.headers.items()), row.body, ends, row.broken)
    pointer = f"/interactions/{place}"
    if row.path != f"/v1{WIRES[wire].route}":
        raise BadFile(path, f"{pointer}/request/path: the path of {wire} is /v1{WIRES[wire].route}")
    turn = None
    if row.status < 400 and not row.broken:
        try:
            turn = WIRES[wire].turn(row.body.decode(), reply.streamed)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise BadFile(path, f"{pointer}/response/body: holds no turn: {error!r}") from error
        reply = replace(reply, id=_id(reply))
    return RecordedExchange(row.request, WIRES[wire].service(True).read(row.request), reply, turn)


def _id(reply: Recorded) -> str | None:
    """The id of a reply that holds a turn."""
    first = next(stream_events(reply.body)).value if reply.streamed else json.loads(reply.body)
    id = (first.get("response") or first.get("message") or first).get("id")
    return id if isinstance(id, str) else None


def _check_complete(cassette: Cassette) -> None:
    """Raises BadFile unless the conversation is complete."""
    path, exchanges = cassette.path, cassette.exchanges
    for place, exchange in enumerate(exchanges[:-1]):
        if exchange.turn is None:
            raise BadFile(path, f"/interactions/{place}/response: holds no turn, but the conversation goes on")
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
