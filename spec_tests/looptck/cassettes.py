"""Cassettes: conversations recorded from real servers, in ``cassettes/WIRE/SCENARIO-plain.yaml`` or ``-stream.yaml``.

The files are vcrpy's, with a provenance. What matters is the replies' bytes: they are played as they are. The turns
that they said are read from them here, so that the kit knows what a loop should have understood.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from looptck.agents import Tool
from looptck.catalogue import unknown
from looptck.data import cassette, fixture
from looptck.history import Request, Said
from looptck.kit import Scene
from looptck.provider.script import Recorded, Step
from looptck.turns import Turn
from looptck.wires import WIRES
from looptck.yamlfile import BadFile, load


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, as JSON and told neutrally, and what was answered to it."""

    body: Any
    request: Request
    reply: Recorded
    turn: Turn


@dataclass(frozen=True, slots=True)
class Cassette:
    """A whole recorded conversation: its last turn is the answer."""

    path: Path
    wire: str
    stream: bool
    exchanges: tuple[Exchange, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What the model said, one turn for each request."""
        return tuple(exchange.turn for exchange in self.exchanges)

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
        for call in (call for turn in self.turns for call in turn.calls):
            results[call.tool].append(texts[call.id or ""])
        return dict(results)

    def set(self, scene: Scene) -> None:
        """Set the scene: reply ``n`` answers request ``n``, and the tools return what they returned."""
        scene.plays(*(Step(exchange.turn, recorded=exchange.reply) for exchange in self.exchanges))
        for tool, texts in self.results.items():
            scene.returns(tool, *texts)


@cache
def cassettes() -> dict[str, Cassette]:
    """Every cassette of the project, by ``WIRE/SCENARIO-plain`` or ``WIRE/SCENARIO-stream``.

    Raises:
        BadFile: one of them cannot be played, or there is none.
    """
    paths = sorted(cassette("").glob("*/*.yaml"))
    if not paths:
        raise BadFile(cassette(""), "there is no cassette in it")
    return {f"{path.parent.name}/{path.stem}": read(path) for path in paths}


def scenarios() -> dict[str, list[str]]:
    """The names of the recorded conversations, each with the wires on which it was recorded, plain and streamed."""
    found: dict[str, list[str]] = {}
    for one in cassettes().values():
        wires = found.setdefault(one.path.stem.rpartition("-")[0], [])
        if one.wire not in wires:
            wires.append(one.wire)
    return dict(sorted(found.items()))


def read(path: Path) -> Cassette:
    """The cassette in a file, which the schema, its own hash and the wire's reader must accept.

    Raises:
        BadFile: they do not; with the place.
    """
    data = load(path, fixture("cassette.schema.json"))
    wire, (_, _, mode) = path.parent.name, path.stem.rpartition("-")
    if wire not in WIRES:
        raise BadFile(path, unknown("wire", wire, list(WIRES)))
    if mode not in {"plain", "stream"}:
        raise BadFile(path, "its name ends in neither -plain nor -stream")
    if data["provenance"]["sha256"] != fingerprint(data["interactions"]):
        raise BadFile(path, "/provenance/sha256: is not the hash of the interactions; they were changed or cut short")
    stream = mode == "stream"
    exchanges = tuple(_exchange(path, wire, place, entry) for place, entry in enumerate(data["interactions"]))
    if any(exchange.request.stream != stream for exchange in exchanges):
        raise BadFile(path, f"its name says {mode}, but a request in it asks for the other mode")
    _ended(path, exchanges)
    return Cassette(path, wire, stream, exchanges)


def fingerprint(interactions: Any) -> str:
    """The SHA-256 of the interactions as JSON with sorted keys, no spaces, and ASCII only."""
    return hashlib.sha256(json.dumps(interactions, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _ended(path: Path, exchanges: Sequence[Exchange]) -> None:
    """Raises BadFile where the conversation is not whole."""
    last = exchanges[-1]
    place = f"/interactions/{len(exchanges) - 1}"
    if last.turn.calls:
        raise BadFile(path, f"{place}/response: the last turn still asks for tools")
    answered = {answer.id for answer in last.request.answers}
    missing = [call.id for exchange in exchanges for call in exchange.turn.calls if call.id not in answered]
    if missing:
        raise BadFile(path, f"{place}/request/body: does not answer the call {missing[0]}")


def _exchange(path: Path, wire: str, place: int, entry: Mapping[str, Any]) -> Exchange:
    response = entry["response"]
    content_type: str = response["headers"]["content-type"][0]
    text: str = response["body"]["string"]
    try:
        body = json.loads(entry["request"]["body"])
    except ValueError as error:
        raise BadFile(path, f"/interactions/{place}/request/body: is no JSON: {error}") from error
    try:
        turn = WIRES[wire].turn(text, content_type.startswith("text/event-stream"))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadFile(path, f"/interactions/{place}/response/body/string: says no turn: {error!r}") from error
    reply = Recorded(response["status"]["code"], content_type, text.encode())
    return Exchange(body, WIRES[wire].service(True).read(body), reply, turn)
