"""Takes: one case recorded on one wire in one mode, redacted, and refused where it is no recording to keep."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from looptck.cases import Case
from looptck.cassettes.form import KEPT_OF_REPLIES, KEPT_OF_REQUESTS, Chunks, Interaction, Provenance, compact
from looptck.recording.conversation import client_of, converse
from looptck.recording.scrub import Leak, Scrubber, read, understood
from looptck.recording.tape import Exchange, NotTheSame, Tape
from looptck.recording.upstreams import Upstream
from looptck.wires import WIRES

_TOLD = 300
"""The most characters that are told of an upstream's own words."""


class NotRecorded(Exception):
    """What came of it is no recording; the text says why, and holds no secret."""


@dataclass(frozen=True, slots=True)
class Take:
    """What is to be written."""

    provenance: Provenance
    interactions: tuple[Interaction, ...]
    chunks: tuple[Chunks, ...]
    """Of a stream; empty for plain replies."""


@dataclass(frozen=True, slots=True)
class Slate:
    """What a take is of."""

    case: Case
    wire: str
    stream: bool

    def __str__(self) -> str:
        return f"{self.wire}/{self.case.name}-{'stream' if self.stream else 'plain'}"


def take(slate: Slate, upstream: Upstream, tape: Tape, patience: float) -> Take:
    """Record it.

    Raises:
        NotRecorded: there is nothing to keep.
    """
    scrubber = Scrubber(upstream.secrets)
    try:
        exchanges, raised = tape.record(
            lambda: converse(slate.case, slate.wire, tape.base_url, upstream, stream=slate.stream, patience=patience)
        )
    except NotTheSame as error:
        raise NotRecorded(str(error)) from error
    for n, exchange in enumerate(exchanges, 1):
        _whole(n, exchange, slate.stream, scrubber)
    if raised is not None and not (exchanges and exchanges[-1].broken):
        raise NotRecorded(_told(f"{type(raised).__name__}: {raised}", scrubber))
    scrubber.masked.clear()
    try:
        interactions = tuple(_interaction(n, one, scrubber) for n, one in enumerate(exchanges, 1))
    except Leak as error:
        raise NotRecorded(str(error)) from error
    _sensible(interactions, slate, scrubber)
    provenance = Provenance(
        upstream=upstream.name,
        dialect=upstream.dialect,
        model=upstream.model,
        scenario=slate.case.fingerprint,
        client=client_of(slate.wire),
        recorder=f"looptck {version('looptck')} with vcrpy {version('vcrpy')}",
        date=datetime.now(UTC).date().isoformat(),
        redactions=_redactions(scrubber),
    )
    chunks = tuple(one.chunks for one in exchanges) if slate.stream else ()
    return Take(provenance, interactions, chunks)


def _whole(n: int, exchange: Exchange, stream: bool, scrubber: Scrubber) -> None:
    """Raises NotRecorded unless it is the reply of a model, or as much of a stream as came before it broke off."""
    if exchange.trouble:
        raise NotRecorded(_told(f"reply {n} {exchange.trouble}", scrubber))
    if exchange.status >= 300:
        raise NotRecorded(_told(f"reply {n} is {exchange.status}: {exchange.body.decode(errors='replace')}", scrubber))
    wanted = "text/event-stream" if stream else "application/json"
    given = exchange.headers.get("content-type", "")
    if not given.startswith(wanted):
        raise NotRecorded(_told(f"reply {n} is {given or 'of no type'}, not {wanted}", scrubber))
    if exchange.broken and not (stream and exchange.body):
        raise NotRecorded(f"reply {n} broke off")


def _interaction(n: int, exchange: Exchange, scrubber: Scrubber) -> Interaction:
    """An exchange, redacted. Raises Leak where that cannot be done."""
    request, body = scrubber.body(exchange.request), scrubber.body(exchange.body)
    with contextlib.suppress(ValueError):
        body = compact(json.loads(body))
    scrubber.leaks(f"request {n}", read(request))
    scrubber.leaks(f"reply {n}", read(body))
    return Interaction(
        "POST",
        scrubber.text(exchange.path),
        scrubber.headers(exchange.request_headers, KEPT_OF_REQUESTS),
        json.loads(request),
        exchange.status,
        scrubber.headers(exchange.headers, KEPT_OF_REPLIES),
        body,
        exchange.broken,
    )


def _sensible(interactions: Sequence[Interaction], slate: Slate, scrubber: Scrubber) -> None:
    """Raises NotRecorded unless the judge takes the requests, and the replies say turns, which leak nothing."""
    wire = WIRES[slate.wire]
    service = wire.service(True)
    for n, interaction in enumerate(interactions, 1):
        problems = service.judge(interaction.request)
        if problems:
            raise NotRecorded(f"request {n}{problems[0].pointer}: the judge refuses it: {problems[0].message}")
        if interaction.broken:
            return
        try:
            turn = wire.turn(interaction.body.decode(), slate.stream)
            scrubber.leaks(f"reply {n}", understood(turn))
        except Leak as error:
            raise NotRecorded(str(error)) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise NotRecorded(f"reply {n} says no turn: {_told(repr(error), scrubber)}") from error
        service.replied(interaction.request, n, turn.numbered(n))


def _redactions(scrubber: Scrubber) -> tuple[str, ...]:
    kept = {"request": KEPT_OF_REQUESTS, "response": KEPT_OF_REPLIES}
    headers = [f"{of} headers: all but {', '.join(names)}" for of, names in kept.items()]
    masked = [f"bodies: {kind}, masked {count} times" for kind, count in sorted(scrubber.masked.items())]
    return (*headers, "the address of the upstream", *masked)


def _told(text: str, scrubber: Scrubber) -> str:
    """Foreign words on one line of a terminal, masked."""
    told = " ".join(scrubber.text(text).split())
    return told if len(told) <= _TOLD else f"{told[:_TOLD]}…"
