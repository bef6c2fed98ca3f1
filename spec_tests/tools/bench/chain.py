"""Measures a chain: a run in which the model calls a tool in each turn, so that each request is longer than the last.

The loop: the CPU time that the reference takes for a chain, beside that of a plain httpx client for the same bodies,
both of which ask a server that only writes the recorded replies, over a client that is there. It is the time of the
client's thread alone. Both run in sequence in each round, and a ratio is that of two times of the same round.

The judge: the CPU time that the provider takes for the requests of a chain, without sockets, when it knows the request
before each, and when it does not because that is written otherwise. Growth: the time of all requests of a chain
of twice the length, beside that of the chain; 2 where a request costs the same however long its history is.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from time import thread_time
from typing import Any

import httpx

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script, Step
from looptck.provider.server import Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.turns import Call, calls, says
from looptck.wires import WIRES
from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Agent, AsyncRunner, Runner, Tool, Wire
from tools.bench.replayer import Replayer
from tools.bench.table import show

TURNS = 51
ROUNDS = 15
REFERENCE: dict[str, Wire] = {
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "anthropic-messages": ANTHROPIC_MESSAGES,
}
HEADERS = {"content-type": "application/json", "authorization": "Bearer none", "x-api-key": "none"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
AGENT = Agent(
    model="looptck-model",
    messages=[{"role": "user", "content": "How warm is it in Paris, all the time?"}],
    tools=[Tool("weather", "The weather in a city.", SCHEMA, lambda city: f"{city}: 18 degrees, and sunny")],
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and the whole reply."""

    request: HttpRequest
    reply: bytes


class Recorded(MockRun):
    """The provider's side of a chain, which keeps what it hears and says."""

    def __init__(self, wire: str, turns: int) -> None:
        wanted = Step(calls(Call.of("weather", {"city": "Paris"}), text="I look again."))
        super().__init__(WIRES[wire], Script((*[wanted] * (turns - 1), Step(says("Warm.")))), Toolbox())
        self.exchanges: list[Exchange] = []

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """The same answer, kept."""
        reply = super().answer(request)
        if reply is None or self.broken is not None:
            raise RuntimeError("a request of the chain has no answer") from self.broken
        self.exchanges.append(Exchange(request, b"".join(part for part in reply.parts if isinstance(part, bytes))))
        return reply


def chain(wire: str, turns: int, *, stream: bool = False) -> list[Exchange]:
    """The exchanges of the reference in a chain of this length."""
    with Provider() as provider:
        recorded = Recorded(wire, turns)
        with httpx.Client() as client:
            loop(client, f"{provider.open(recorded)}/v1", REFERENCE[wire], turns, stream=stream)
    assert turns == len(recorded.exchanges)
    return recorded.exchanges


def loop(client: httpx.Client, url: str, wire: Wire, turns: int, *, stream: bool) -> None:
    """Run the reference."""
    runner = Runner(url, "none", wire=wire, client=client)
    assert runner.run(AGENT, limit=turns, stream=stream).text == "Warm."


async def loop_async(client: httpx.AsyncClient, url: str, wire: Wire, turns: int, *, stream: bool) -> None:
    """Run the reference, async."""
    runner = AsyncRunner(url, "none", wire=wire, client=client)
    assert (await runner.run(AGENT, limit=turns, stream=stream)).text == "Warm."


def bare(client: httpx.Client, url: str, bodies: list[bytes]) -> None:
    """Send the same bodies by httpx, and read the replies."""
    for body in bodies:
        client.post(url, content=body, headers=HEADERS)


async def bare_async(client: httpx.AsyncClient, url: str, bodies: list[bytes]) -> None:
    """Send the same bodies by httpx, async."""
    for body in bodies:
        await client.post(url, content=body, headers=HEADERS)


def taken(work: Callable[[], object]) -> float:
    """The CPU seconds of this thread for some work."""
    gc.collect()
    start = thread_time()
    work()
    return thread_time() - start


@dataclass(frozen=True, slots=True)
class Cell:
    """A chain of the reference on one wire, beside the bare exchange of its bodies. Clients are made before."""

    server: Replayer
    wire: str
    stream: bool
    exchanges: list[Exchange]

    def sync(self) -> list[tuple[float, float]]:
        """The seconds of the bare exchange and of the chain, by round."""
        url, route, bodies = self._place()
        with httpx.Client() as client:
            return [
                (
                    self._taken(lambda: bare(client, url + route, bodies)),
                    self._taken(lambda: loop(client, url, REFERENCE[self.wire], TURNS, stream=self.stream)),
                )
                for _ in range(ROUNDS + 1)
            ]

    def run_async(self) -> list[tuple[float, float]]:
        """As ``sync``, in one event loop."""
        url, route, bodies = self._place()
        with asyncio.Runner() as runner:
            client = httpx.AsyncClient()
            pairs = [
                (
                    self._taken(lambda: runner.run(bare_async(client, url + route, bodies))),
                    self._taken(
                        lambda: runner.run(loop_async(client, url, REFERENCE[self.wire], TURNS, stream=self.stream))
                    ),
                )
                for _ in range(ROUNDS + 1)
            ]
            runner.run(client.aclose())
        return pairs

    def _place(self) -> tuple[str, str, list[bytes]]:
        return f"{self.server.origin}/v1", WIRES[self.wire].route, [one.request.body for one in self.exchanges]

    def _taken(self, work: Callable[[], object]) -> float:
        self.server.replies([one.reply for one in self.exchanges])
        return taken(work)


def loops(server: Replayer) -> list[list[str]]:
    """A row for each cell: a chain of the reference beside the bare exchange."""
    rows = [[f"a chain of {TURNS} turns", "bare ms", "reference ms", "× bare"]]
    for wire in WIRES:
        for stream in (False, True):
            cell = Cell(server, wire, stream, chain(wire, TURNS, stream=stream))
            for mode, measured in (("sync", cell.sync), ("async", cell.run_async)):
                pairs = measured()[1:]  # what is imported or built at first use is not looping
                least, mine = (median(one[side] for one in pairs) * 1e3 for side in (0, 1))
                ratio = median(one / other for other, one in pairs)
                kind = f"{wire}, {'stream' if stream else 'plain'}, {mode}"
                rows.append([kind, f"{least:.1f}", f"{mine:.1f}", f"{ratio:.2f}"])
    return rows


def judged(wire: str, requests: list[HttpRequest]) -> float:
    """The CPU seconds of a provider for the requests of a chain."""
    run = Recorded(wire, len(requests))
    run.opened(requests[0].path.removesuffix(f"/v1{WIRES[wire].route}"))

    def ask() -> None:
        for one in requests:
            run.answer(one)

    return taken(ask)


def unlike(requests: list[HttpRequest]) -> list[HttpRequest]:
    """The same requests, of which every second one is written otherwise, so that none begins with the one before."""
    return [replace(one, body=one.body if n % 2 else _rewritten(one.body)) for n, one in enumerate(requests)]


def _rewritten(body: bytes) -> bytes:
    return json.dumps(json.loads(body), separators=(",", ": ")).encode()


def judges() -> list[list[str]]:
    """A row for each wire: the provider's time for a request of a chain, and its growth with the length."""
    rows = [["judged in a chain, per request", "known µs", "growth", "unknown µs", "growth"]]
    for wire in WIRES:
        row: list[Any] = [wire]
        requests = {turns: [one.request for one in chain(wire, turns)] for turns in (TURNS, 2 * TURNS)}
        for kind in (list, unlike):
            best = {turns: min(judged(wire, kind(some)) for _ in range(ROUNDS)) for turns, some in requests.items()}
            row += [f"{best[TURNS] / TURNS * 1e6:.0f}", f"{best[2 * TURNS] / best[TURNS]:.1f}"]
        rows.append(row)
    return rows


def main() -> None:
    """Measure and print."""
    show(loops(Replayer()))
    show(judges())
