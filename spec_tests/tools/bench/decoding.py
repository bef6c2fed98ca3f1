"""Measures how fast the stream of one long tool call is decoded, and how the time grows with its length.

The bytes come from looptck's encoders; the arguments are an array of small objects in deltas of four characters. The
bare decoder splits the stream into events and parses the JSON of each, which is the minimum for every decoder. The
reference gets pieces of 64 KiB. So do the official SDKs, over a transport in memory, with the stream helpers of their
guides; ``strict`` means that the tool was offered as strict. Each decoder has to return the arguments that were sent,
and is stopped if it takes too long.

Seconds are CPU time, because the cores are shared. In each round all decoders run in sequence, and a ratio is that of
two times of the same round.
"""

from __future__ import annotations

import gc
import json
import signal
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from time import thread_time
from types import FrameType
from typing import NoReturn

import httpx2
from anthropic import Anthropic
from openai import OpenAI

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls
from looptck.wires import WIRES
from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire
from looptck_reference.http.reception import Reception
from tools.bench.table import show

ROUNDS = {1_000: 5, 10_000: 5, 50_000: 3}
"""The number of rounds for each number of deltas."""
SLOW = 1.0
"""A decoder that took longer than these seconds for one stream gets no second stream of that length."""
TOO_SLOW = 30.0
"""A decoder that takes longer than these seconds for one stream is stopped, and gets no longer stream."""
FRAGMENT = 4
PIECE = 64 * 1024

Decoder = Callable[[list[bytes]], str]
"""Decodes the pieces of a stream to the arguments of its call; the bare decoder returns none."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream with one call."""

    arguments: str
    pieces: list[bytes]

    @classmethod
    def of(cls, wire: str, deltas: int) -> Stream:
        """A stream whose call has this many argument deltas."""
        arguments = arguments_of(deltas * FRAGMENT)
        encode, framing = WIRES[wire], DEFAULT.but(fragment=FRAGMENT)
        events = encode.events(calls(Call("report", arguments)).numbered(1), 1, framing)
        return cls(arguments, framing.but(every=PIECE).pieces(framing.encode(events, named=encode.named_events)))


def arguments_of(length: int) -> str:
    """Structured arguments of this many characters: an array of small objects, and a text as padding."""
    row = '{"city":"Paris","day":%d,"celsius":21.5,"rain":false,"winds":["north","west"]},'
    rows = "".join(row % (100_000 + day) for day in range((length - 100) // len(row % 100_000)))
    start, end = '{"rows":[' + rows.removesuffix(",") + '],"remark":"', '"}'
    return start + "x" * (length - len(start) - len(end)) + end


def bare(pieces: list[bytes]) -> str:
    """Split the stream into events, and parse the JSON of each."""
    for event in b"".join(pieces).decode().split("\n\n"):
        data = event.partition("data: ")[2]
        if data.startswith("{"):
            json.loads(data)
    return ""


def reference(wire: Wire) -> Decoder:
    """The reference's decoder."""

    def decode(pieces: list[bytes]) -> str:
        reception = Reception(wire, lambda delta: not delta.calling)
        for piece in pieces:
            for _ in reception.feed(piece):
                pass
        return reception.close().calls[0].arguments

    return decode


def answering(pieces: list[bytes]) -> httpx2.Client:
    """A client whose every request is answered with this stream."""
    headers = {"content-type": "text/event-stream"}
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=iter(pieces)))
    )


def openai_chat(*, strict: bool) -> Decoder:
    """``client.chat.completions.stream``."""

    def decode(pieces: list[bytes]) -> str:
        client = OpenAI(api_key="none", http_client=answering(pieces))
        with client.chat.completions.stream(
            model="m",
            messages=[{"role": "user", "content": "Go."}],
            tools=[{"type": "function", "function": {"name": "report", "parameters": {}, "strict": strict}}],
        ) as stream:
            called = stream.get_final_completion().choices[0].message.tool_calls
        assert called
        return called[0].function.arguments

    return decode


def openai_responses(pieces: list[bytes]) -> str:
    """``client.responses.stream``."""
    client = OpenAI(api_key="none", http_client=answering(pieces))
    with client.responses.stream(
        model="m",
        input="Go.",
        tools=[{"type": "function", "name": "report", "parameters": {}, "strict": True}],
    ) as stream:
        (call,) = stream.get_final_response().output
    assert call.type == "function_call"
    return call.arguments


def anthropic(pieces: list[bytes]) -> str:
    """``client.messages.stream``; it returns parsed arguments."""
    client = Anthropic(api_key="none", http_client=answering(pieces))
    with client.messages.stream(
        model="m",
        max_tokens=100,
        messages=[{"role": "user", "content": "Go."}],
        tools=[{"name": "report", "input_schema": {"type": "object"}}],
    ) as stream:
        (block,) = stream.get_final_message().content
    assert block.type == "tool_use"
    return json.dumps(block.input, separators=(",", ":"))


DECODERS: dict[str, dict[str, Decoder]] = {
    "openai-chat": {
        "bare": bare,
        "reference": reference(OPENAI_CHAT),
        "openai": openai_chat(strict=False),
        "openai, strict": openai_chat(strict=True),
    },
    "openai-responses": {
        "bare": bare,
        "reference": reference(OPENAI_RESPONSES),
        "openai, strict": openai_responses,
    },
    "anthropic-messages": {"bare": bare, "reference": reference(ANTHROPIC_MESSAGES), "anthropic": anthropic},
}


class Times:
    """The times of one wire's decoders in seconds, by round."""

    def __init__(self, wire: str) -> None:
        self.wire = wire
        self.decoders = DECODERS[wire]
        self._seconds: dict[tuple[str, int], list[float]] = defaultdict(list)

    def take(self) -> None:
        """Run all rounds, from short streams to long ones."""
        for decode in self.decoders.values():
            decode(Stream.of(self.wire, 100).pieces)  # what is imported or built at first use is not decoding
        for deltas, rounds in ROUNDS.items():
            stream = Stream.of(self.wire, deltas)
            for _ in range(rounds):
                for name in self.decoders:
                    if self._may(name, deltas):
                        self._seconds[name, deltas].append(self._once(name, stream))

    def rows(self) -> list[list[str]]:
        """A row for each decoder: median seconds, ratio to the bare decoder, and growth."""
        return [[f"{self.wire}: {name}", *self._figures(name)] for name in self.decoders]

    def _may(self, name: str, deltas: int) -> bool:
        slowest = max((max(self._seconds[name, size], default=0) for size in ROUNDS if size < deltas), default=0)
        return slowest < TOO_SLOW and max(self._seconds[name, deltas], default=0) < SLOW

    def _once(self, name: str, stream: Stream) -> float:
        gc.collect()
        signal.setitimer(signal.ITIMER_VIRTUAL, TOO_SLOW, 1)  # each second once more: a callback may swallow the first
        start = thread_time()
        with suppress(TimeoutError):
            arguments = self.decoders[name](stream.pieces)
            seconds = thread_time() - start
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            assert arguments in (stream.arguments, ""), name
            return seconds
        return TOO_SLOW

    def _figures(self, name: str) -> list[str]:
        *_, before, last = ROUNDS
        seconds = {size: median(self._seconds[name, size]) for size in ROUNDS if self._seconds[name, size]}
        over = {size: ">" if at >= TOO_SLOW else "" for size, at in seconds.items()}
        times = [f"{over[size]}{seconds[size]:.4f}" if size in seconds else "" for size in ROUNDS]
        ratios = [f"{over[size]}{self._ratio(name, size):.2f}" if size in seconds else "" for size in ROUNDS]
        return [*times, *ratios, f"{over[last]}{seconds[last] / seconds[before]:.1f}" if last in seconds else ""]

    def _ratio(self, name: str, size: int) -> float:
        pairs = zip(self._seconds[name, size], self._seconds["bare", size], strict=False)
        return median(mine / least for mine, least in pairs)


def _give_up(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError


def main() -> None:
    """Measure and print."""
    signal.signal(signal.SIGVTALRM, _give_up)
    sizes = [f"{size:,}" for size in ROUNDS]
    rows = [["CPU seconds for a call of so many deltas", *sizes, *(f"× bare: {size}" for size in sizes), "growth"]]
    for wire in WIRES:
        times = Times(wire)
        times.take()
        rows += times.rows()
    show(rows)
    *_, before, last = ROUNDS
    print(f"growth: {last:,} deltas against {before:,}, which is {last / before:.0f} where it is linear")
