"""What servers write that are compatible with Chat Completions and are not it: quirks of replies, plain or streamed.

Each quirk is one change to the reply of the service itself. The requirement that plays it names the servers.
"""

from __future__ import annotations

from copy import deepcopy

from looptck.values.framing import Quirk
from looptck.wires.openai_chat.compatible import usage as usage  # its quirks are found by their names
from looptck.wires.openai_chat.compatible.calls import arguments_of, extras
from looptck.wires.openai_chat.compatible.changes import BODY, STREAM, Chunk
from looptck.wires.openai_chat.compatible.chunks import UNKNOWN_FINISH
from looptck.wires.openai_chat.compatible.messages import REASONING, SEALED

__all__ = [
    "BODY",
    "REASONING",
    "SEALED",
    "STREAM",
    "UNKNOWN_FINISH",
    "arguments_of",
    "changed_body",
    "changed_stream",
    "extras",
]


def changed_stream(quirk: Quirk | None, events: list[object]) -> list[object]:
    """The events of a stream as a server with this quirk sends them; any other quirk changes nothing."""
    change = STREAM.get(quirk) if quirk else None
    if change is None:
        return events
    chunks = [event for event in deepcopy(events) if isinstance(event, dict)]
    return [*change(chunks), *(event for event in events if not isinstance(event, dict))]


def changed_body(quirk: Quirk | None, body: Chunk) -> Chunk:
    """The plain reply as a server with this quirk sends it; any other quirk changes nothing."""
    change = BODY.get(quirk) if quirk else None
    return body if change is None else change(deepcopy(body))
