"""What a reply says, as the reference's decoders and the kit's own readers understand it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import httpx

from looptck.values.history import same_arguments
from looptck.values.turns import Stop, Turn
from looptck.wires import WIRES
from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Agent, Loop, Wire
from looptck_reference import Turn as Decoded
from looptck_reference.http.conversation import Conversation
from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.spans import Tracing
from tools.corpus.records import Record

REFERENCE: Mapping[str, Wire] = {
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "anthropic-messages": ANTHROPIC_MESSAGES,
}
"""The reference's wires, by the names of the kit's."""
_STOPS: Mapping[Stop, str] = {
    "end": "end",
    "stop_sequence": "end",
    "unknown": "end",
    "calls": "calls",
    "length": "length",
    "context_window": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "pause": "pause",
    "compaction": "pause",
}
"""The reference's word for each stop reason of the kit at which it decodes a turn."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What both have to agree upon."""

    text: str
    calls: tuple[tuple[str, str, str], ...]
    """Id, tool and arguments."""
    stop: str

    def differences(self, other: Understood) -> list[str]:
        """In what the other understood something else."""
        same = {
            "text": self.text == other.text,
            "calls": len(self.calls) == len(other.calls) and all(map(_same, self.calls, other.calls)),
            "stop": self.stop == other.stop,
        }
        return [name for name in same if not same[name]]


def decoded(record: Record, body: bytes) -> Decoded:
    """The turn in a reply, by the way that the reference's runners go.

    Raises LoopError where it says none.
    """
    response = httpx.Response(
        record.status, headers={"content-type": record.content_type}, content=body, request=httpx.Request("POST", "/")
    )
    exchange = exchange_of(Loop(Agent("", ()), wire=REFERENCE[record.wire]), record.wire, stream=record.stream)
    if not exchange.comes_in_events(response):
        return exchange.turn(response, body)
    reception = exchange.reception()
    for _ in reception.feed(body):
        pass
    return reception.close()


def exchange_of(loop: Loop, wire: str, *, stream: bool) -> Conversation:
    """The loop's way to write requests and to read replies."""
    with Tracing().run(loop) as spans:
        return Conversation(loop, _endpoint(wire), spans, stream=stream)


def read(record: Record, body: bytes) -> Turn:
    """The turn in a reply, by the kit's reader. Raises NoTurn where it says none."""
    return WIRES[record.wire].turn(body.decode(), record.content_type.startswith("text/event-stream"))


def of_reference(turn: Decoded) -> Understood:
    """What the reference understood."""
    return Understood(turn.text, tuple((call.id, call.name, call.arguments) for call in turn.calls), str(turn.stop))


def of_kit(turn: Turn, wire: str) -> Understood:
    """What the kit understood, in the reference's words: there, words in which the model declines are its text.

    In Messages these words are no content, and the reference leaves them alone.
    """
    refusal = None if wire == "anthropic-messages" else turn.refusal
    stop = "refusal" if refusal else _STOPS.get(turn.stopped, turn.stopped)
    calls = tuple((call.id or "", call.tool, call.arguments) for call in turn.calls)
    return Understood(refusal or turn.text or "", calls, stop)


@cache
def _endpoint(wire: str) -> Endpoint:
    return Endpoint(httpx.Client(verify=False), "http://127.0.0.1", "none", REFERENCE[wire])  # noqa: S501  sends nothing


def _same(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    return one[:2] == other[:2] and same_arguments(one[2], other[2])
