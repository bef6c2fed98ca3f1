"""Recordings of a user's own tests: files in the format of cassettes, wherever they are and on any wires."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import yaml

from looptck.cassettes.cassette import chunk_ends, chunks_path, recorded_exchange
from looptck.cassettes.decoded import readings
from looptck.cassettes.file_format import (
    KEPT_REPLY_HEADERS,
    KEPT_REQUEST_HEADERS,
    BadForm,
    Chunks,
    Interaction,
    Provenance,
    compact,
    parse_cassette,
    render_cassette,
    render_chunks,
)
from looptck.cassettes.scrub import Leak, Scrubber
from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import BadFile, load
from looptck.provider.script import Step
from looptck.values.frozen import dataclass
from looptck.wires import WIRES


@dataclass(frozen=True, slots=True)
class Taped:
    """A request and its reply, unredacted."""

    path: str
    request_headers: dict[str, str]
    request: bytes
    status: int
    headers: dict[str, str]
    body: bytes
    chunks: Chunks
    broken: bool = False


def steps(path: Path) -> tuple[Step, ...]:
    """What plays a recording: each reply as it was, byte for byte. Raises BadFile where it cannot be played."""
    data = load(path, fixture("cassette.schema.json"), foreign=True)
    try:
        _, rows = parse_cassette(data)
    except BadForm as error:
        raise BadFile(path, str(error)) from error
    ends = chunk_ends(path, data["provenance"]["sha256"], rows)
    return tuple(_step(path, place, row, ends[place]) for place, row in enumerate(rows))


def _step(path: Path, place: int, row: Interaction, ends: tuple[int, ...]) -> Step:
    wire = next((one.name for one in WIRES.values() if row.path == f"/v1{one.route}"), None)
    if wire is None:
        raise BadFile(path, f"/interactions/{place}/request/path: is the path of no wire")
    exchange = recorded_exchange(path, wire, place, row, ends)
    return Step(exchange.turn, recorded=exchange.reply)


def write(path: Path, taped: Sequence[Taped], *, upstream: str, name: str, secrets: Iterable[str]) -> None:
    """Write a recording, redacted.

    Args:
        path: the file; the borders of chunks go to one beside it.
        taped: the exchanges, at least one.
        upstream: the address that was asked.
        name: what was recorded: the name of a test.
        secrets: the keys that were used.

    Raises:
        Leak: something in it cannot be masked.
    """
    scrubber = Scrubber(secrets)
    rows = [_redacted(n, one, scrubber) for n, one in enumerate(taped, 1)]
    model = rows[0].request.get("model") if isinstance(rows[0].request, dict) else None
    kept = {"request": KEPT_REQUEST_HEADERS, "response": KEPT_REPLY_HEADERS}
    provenance = Provenance(
        upstream=upstream,
        dialect="",
        model=model if isinstance(model, str) and model else "unknown",
        scenario=hashlib.sha256(name.encode()).hexdigest(),
        client=taped[0].request_headers.get("user-agent", "unknown"),
        recorder=f"looptck {version('looptck')}",
        date=datetime.now(UTC).date().isoformat(),
        redactions=(
            *(f"{of} headers: all but {', '.join(names)}" for of, names in kept.items()),
            *(f"bodies: {kind}, masked {count} times" for kind, count in sorted(scrubber.masked.items())),
        ),
    )
    text = render_cassette(provenance, rows)
    sha256 = yaml.safe_load(text)["provenance"]["sha256"]
    path.parent.mkdir(parents=True, exist_ok=True)
    chunks = [_chunks(one, row) for one, row in zip(taped, rows, strict=True)]
    chunks_path(path).write_text(render_chunks(sha256, chunks), "utf-8", newline="\n")
    path.write_text(text, encoding="utf-8", newline="\n")


def _redacted(n: int, one: Taped, scrubber: Scrubber) -> Interaction:
    request, body = scrubber.body(one.request), scrubber.body(one.body)
    is_json = one.headers.get("content-type", "").startswith("application/json")
    if is_json and not one.broken:
        body = compact(json.loads(body))
    scrubber.leaks(f"request {n}", readings(request))
    scrubber.leaks(f"reply {n}", readings(body))
    asked = scrubber.headers(one.request_headers, KEPT_REQUEST_HEADERS)
    answered = scrubber.headers(one.headers, KEPT_REPLY_HEADERS)
    return Interaction("POST", one.path, asked, json.loads(request), one.status, answered, body, one.broken)


def _chunks(one: Taped, row: Interaction) -> Chunks:
    """The chunks of a reply; one that is JSON is kept in another spelling, and so has one."""
    if len(row.body) == len(one.body):
        return one.chunks
    return Chunks((len(row.body),), one.chunks.times[-1:])


__all__ = ["Leak", "Taped", "steps", "write"]
