"""The events of a recorded stream, and the same events in another dress."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from looptck.framing import Framing
from looptck.provider.script import Recorded
from looptck.wires.received import named


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event: its name, ``""`` where it has none, and its JSON, or its text where that is none (an end marker)."""

    name: str
    value: Any


def stream_events(body: bytes) -> Iterator[StreamEvent]:
    """The whole events of a stream; one that broke off is none."""
    for name, data in named(body.decode(errors="replace")):
        yield StreamEvent(name, _value(data))


def redressed(reply: Recorded, framing: Framing) -> Recorded:
    """A reply whose stream is the same events in the dress of a framing; other replies stay as they are."""
    if not reply.streamed or reply.broken:
        return reply
    events = list(stream_events(reply.body))
    body = framing.dress([event.value for event in events], named=any(event.name for event in events))
    return replace(reply, body=body, ends=tuple(accumulate(map(len, framing.pieces(body)))))


def _value(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data
