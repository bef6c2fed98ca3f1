"""The meaning of a reply as the reference's decoders and looptck's own readers understand it."""

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
from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.exchange import Exchange
from looptck_reference.http.spans import Tracing
from tools.corpus.records import Record

REFERENCE: Mapping[str, Wire] = {
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "anthropic-messages": ANTHROPIC_MESSAGES,
}
"""The reference's wires by looptck's names."""
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
"""The reference's stop for each of looptck's stop reasons at which it decodes a turn."""


@dataclass(frozen=True, slots=True)
class Understood:
    """The content on which both sides have to agree."""

    text: str
    calls: tuple[tuple[str, str, str], ...]
    """Id, tool and arguments of each call."""
    stop: str

    def differences(self, other: Understood) -> list[str]:
        """The members in which the other side differs."""
        same = {
            "text": self.text == other.text,
            "calls": len(self.calls) == len(other.calls) and all(map(_same, self.calls, other.calls)),
            "stop": self.stop == other.stop,
        }
        return [name for name in same if not same[name]]


def decoded(record: Record, body: bytes) -> Decoded:
    """The turn in a reply, decoded by the reference's conversation.

    Raises LoopError if there is none.
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


def exchange_of(loop: Loop, wire: str, *, stream: bool) -> Exchange:
    """The conversation with which the loop writes requests and reads replies."""
    with Tracing().run(loop) as spans:
        return Exchange(loop, _endpoint(wire), spans, stream=stream)


def read(record: Record, body: bytes) -> Turn:
    """The turn in a reply, decoded by looptck's reader. Raises NoTurn if there is none."""
    return WIRES[record.wire].turn(body.decode(), record.content_type.startswith("text/event-stream"))


def of_reference(turn: Decoded) -> Understood:
    """The reference's understanding of a turn."""
    return Understood(turn.text, tuple((call.id, call.name, call.arguments) for call in turn.calls), str(turn.stop))


def of_kit(turn: Turn, wire: str) -> Understood:
    """Looptck's understanding of a turn, in the reference's terms, where the text of a refusal is ordinary text.

    In Messages the explanation of a refusal is not content, and the reference ignores it.
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
