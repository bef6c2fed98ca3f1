"""Captures: one case recorded on one wire in one mode, redacted, and refused if it is not suitable as a cassette."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from looptck.bench.cases import Case
from looptck.cassettes.decoded import readings
from looptck.cassettes.file_format import (
    KEPT_REPLY_HEADERS,
    KEPT_REQUEST_HEADERS,
    Chunks,
    Interaction,
    Provenance,
    compact,
)
from looptck.cassettes.scrub import Leak, Scrubber, texts_of_turn
from looptck.commands.recording.conversation import client_of, converse
from looptck.commands.recording.traffic_log import CapturesDisagree, LoggedExchange, TrafficLog
from looptck.commands.recording.upstreams import Upstream
from looptck.values.frozen import dataclass
from looptck.wires import WIRES

_LONGEST = 300
"""The most characters that are quoted of an upstream's reply."""


class NotRecorded(Exception):
    """The case could not be recorded; the text gives the reason, and holds no secret."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A redacted recording."""

    provenance: Provenance
    interactions: tuple[Interaction, ...]
    chunks: tuple[Chunks, ...]
    """Of a stream; empty for plain replies."""


@dataclass(frozen=True, slots=True)
class CaptureTarget:
    """The case, wire and mode to capture."""

    case: Case
    wire: str
    stream: bool

    def __str__(self) -> str:
        return f"{self.wire}/{self.case.name}-{'stream' if self.stream else 'plain'}"


def capture(target: CaptureTarget, upstream: Upstream, log: TrafficLog, patience: float) -> Capture:
    """Record it.

    Raises:
        NotRecorded: there is nothing to keep.
    """
    scrubber = Scrubber(upstream.secrets)
    try:
        exchanges, raised = log.record(
            lambda: converse(target.case, target.wire, log.base_url, upstream, stream=target.stream, patience=patience)
        )
    except CapturesDisagree as error:
        raise NotRecorded(str(error)) from error
    for n, exchange in enumerate(exchanges, 1):
        _check_reply(n, exchange, target.stream, scrubber)
    if raised is not None and not (exchanges and exchanges[-1].broken):
        raise NotRecorded(_shortened(f"{type(raised).__name__}: {raised}", scrubber))
    scrubber.masked.clear()
    try:
        interactions = tuple(_interaction(n, one, scrubber) for n, one in enumerate(exchanges, 1))
    except Leak as error:
        raise NotRecorded(str(error)) from error
    _check_conversation(interactions, target, scrubber)
    provenance = Provenance(
        upstream=upstream.name,
        dialect=upstream.dialect,
        model=upstream.model,
        scenario=target.case.fingerprint,
        client=client_of(target.wire),
        recorder=f"looptck {version('looptck')} with vcrpy {version('vcrpy')}",
        date=datetime.now(UTC).date().isoformat(),
        redactions=_redactions(scrubber),
    )
    chunks = tuple(one.chunks for one in exchanges) if target.stream else ()
    return Capture(provenance, interactions, chunks)


def _check_reply(n: int, exchange: LoggedExchange, stream: bool, scrubber: Scrubber) -> None:
    """Raises NotRecorded unless the reply comes from a model, or is the beginning of a broken stream."""
    if exchange.trouble:
        raise NotRecorded(_shortened(f"reply {n} {exchange.trouble}", scrubber))
    if exchange.status >= 300:
        raise NotRecorded(
            _shortened(f"reply {n} is {exchange.status}: {exchange.body.decode(errors='replace')}", scrubber)
        )
    wanted = "text/event-stream" if stream else "application/json"
    given = exchange.headers.get("content-type", "")
    if not given.startswith(wanted):
        raise NotRecorded(_shortened(f"reply {n} is {given or 'of no type'}, not {wanted}", scrubber))
    if exchange.broken and not (stream and exchange.body):
        raise NotRecorded(f"reply {n} broke off")


def _interaction(n: int, exchange: LoggedExchange, scrubber: Scrubber) -> Interaction:
    """A redacted exchange. Raises Leak if it cannot be redacted."""
    request, body = scrubber.body(exchange.request), scrubber.body(exchange.body)
    with contextlib.suppress(ValueError):
        body = compact(json.loads(body))
    scrubber.leaks(f"request {n}", readings(request))
    scrubber.leaks(f"reply {n}", readings(body))
    return Interaction(
        "POST",
        scrubber.text(exchange.path),
        scrubber.headers(exchange.request_headers, KEPT_REQUEST_HEADERS),
        json.loads(request),
        exchange.status,
        scrubber.headers(exchange.headers, KEPT_REPLY_HEADERS),
        body,
        exchange.broken,
    )


def _check_conversation(interactions: Sequence[Interaction], target: CaptureTarget, scrubber: Scrubber) -> None:
    """Raises NotRecorded unless the judge accepts the requests and the replies hold turns without secrets."""
    wire = WIRES[target.wire]
    service = wire.service(True)
    for n, interaction in enumerate(interactions, 1):
        problems = service.judge(interaction.request)
        if problems:
            why = f"request {n}{problems[0].pointer}: the judge refuses it: {problems[0].message}"
            raise NotRecorded(_shortened(why, scrubber))
        if interaction.broken:
            return
        try:
            turn = wire.turn(interaction.body.decode(), target.stream)
            scrubber.leaks(f"reply {n}", texts_of_turn(turn))
        except Leak as error:
            raise NotRecorded(str(error)) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise NotRecorded(f"reply {n} holds no turn: {_shortened(repr(error), scrubber)}") from error
        service.replied(interaction.request, n, turn.numbered(n))


def _redactions(scrubber: Scrubber) -> tuple[str, ...]:
    kept = {"request": KEPT_REQUEST_HEADERS, "response": KEPT_REPLY_HEADERS}
    headers = [f"{of} headers: all but {', '.join(names)}" for of, names in kept.items()]
    masked = [f"bodies: {kind}, masked {count} times" for kind, count in sorted(scrubber.masked.items())]
    return (*headers, "the address of the upstream", *masked)


def _shortened(text: str, scrubber: Scrubber) -> str:
    """Foreign words on one line of a terminal, masked."""
    line = " ".join(scrubber.text(text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
