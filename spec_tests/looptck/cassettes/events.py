"""The events of a recorded stream, and the same events in another dress.

Section 9.2.6 of the WHATWG HTML standard says how events are read; no wire uses their ``id`` and ``retry``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from looptck.framing import Framing
from looptck.provider.script import Recorded

_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event: its name, ``""`` where it has none, and its JSON, or its text where that is none (an end marker)."""

    name: str
    value: Any


def stream_events(body: bytes) -> Iterator[StreamEvent]:
    """The whole events of a stream; one that broke off is none."""
    name, data = "", list[str]()
    for line in _LINE_END.split(body.decode(errors="replace").removeprefix("\ufeff")):
        field, _, value = line.partition(":")
        if not line:
            if data:
                yield StreamEvent(name, _value("\n".join(data)))
            name, data = "", []
        elif field == "event":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


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
