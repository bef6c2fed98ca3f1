"""The events of a recorded stream, and the same events in another SSE encoding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any

from looptck.provider.script import Recorded
from looptck.values.framing import Framing
from looptck.values.frozen import dataclass
from looptck.wires.received import named


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event: its name, ``""`` if it has none, and its JSON, or its text if that is not JSON (an end marker)."""

    name: str
    value: Any


def stream_events(body: bytes) -> Iterator[StreamEvent]:
    """The complete events of a stream."""
    for name, data in named(body.decode(errors="replace")):
        yield StreamEvent(name, _value(data))


def re_encoded(reply: Recorded, framing: Framing) -> Recorded:
    """A stream with the same events in the SSE encoding of a framing; other replies are returned unchanged."""
    if not reply.streamed or reply.broken:
        return reply
    events = list(stream_events(reply.body))
    body = framing.encode([event.value for event in events], named=any(event.name for event in events))
    return replace(reply, body=body, ends=tuple(accumulate(map(len, framing.pieces(body)))))


def _value(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data
