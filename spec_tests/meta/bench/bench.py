"""How fast the kit is, as ratios inside one run: ``tox -e bench``. Nothing here is a test.

Three figures. What a check costs beside the bare httpx exchange of the same bodies: every example-based check of the
sync cells is timed whole (pytest's set-up and tear-down, the judge, the verdict), then its requests are sent once more
by a plain ``httpx.Client`` to a server that only writes the recorded replies. How many checks a second. How long until
the first verdict of the command.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from looptck.plugin import check_of
from looptck.provider.http import Connection, HttpReply, HttpRequest
from looptck.provider.stage import Stage
from looptck.running import run_pytest
from looptck.selection import Selection
from looptck.session import Options, Session

REPEATS = 5
PROPERTIES = 30
"""An item with more exchanges than this is a property or an endless loop, not a single check."""


@dataclass(slots=True)
class Timed:
    """One check: how long it took, and what went over the wire."""

    cell: str
    seconds: float = 0.0
    exchanges: list[tuple[HttpRequest, bytes]] = field(default_factory=list)
    whole: bool = True
    """Whether every reply was a single write; others wait for gates or are cut, and are left out."""


class Stopwatch:
    """A pytest plugin that times items and keeps what was exchanged in them."""

    def __init__(self) -> None:
        self.items: list[Timed] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """From before set-up to after tear-down."""
        check = check_of(item)
        timed = Timed(str(check.cell) if check else "")
        self.items.append(timed)
        start = perf_counter()
        result = yield
        timed.seconds = perf_counter() - start
        return result

    def answer(self, stage: Stage, request: HttpRequest) -> HttpReply | None:
        """Stands in for ``Stage.answer``: the same, written down."""
        reply = ANSWER(stage, request)
        timed = self.items[-1]
        if reply is not None and len(reply.parts) == 1 and isinstance(reply.parts[0], bytes) and not reply.then_close:
            timed.exchanges.append((request, reply.parts[0]))
        else:
            timed.whole = False
        return reply


ANSWER = Stage.answer


def suite() -> tuple[list[Timed], float]:
    """Run the suite on the reference in the sync cells; the checks, and the seconds for all of them."""
    watch = Stopwatch()
    session = Session.begin(Options(selection=Selection(cells=("*/sync",)), examples=1))
    with patch.object(Stage, "answer", lambda stage, request: watch.answer(stage, request)):  # noqa: PLW0108
        start = perf_counter()
        run_pytest(session, plugins=[watch])
        return watch.items, perf_counter() - start


class Replayer:
    """A server that answers with given bytes, in order, and does nothing else."""

    def __init__(self) -> None:
        self.replies: list[bytes] = []
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        listening = self._loop.create_server(lambda: Connection(self._answer, self._loop, set()), "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def _answer(self, request: HttpRequest) -> HttpReply:
        return HttpReply([self.replies.pop(0)])


def bare(client: httpx.Client, server: Replayer, timed: Timed) -> float:
    """The seconds that httpx alone takes for the exchanges of a check."""
    server.replies = [reply for _, reply in timed.exchanges]
    requests = [(server.origin + request.path, request.body) for request, _ in timed.exchanges]
    headers = {"content-type": "application/json", "authorization": "Bearer looptck-dummy-key"}
    start = perf_counter()
    for url, body in requests:
        client.post(url, content=body, headers=headers)
    return perf_counter() - start


def first_verdict() -> float:
    """The seconds from the command to its first verdict, which is its first line where nobody watches."""
    start = perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "looptck.cli", "run"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    seconds = perf_counter() - start
    process.kill()
    process.wait()
    process.stdout.close()
    return seconds


def main() -> None:
    """Measure and print."""
    rounds = [suite() for _ in range(REPEATS)]
    server = Replayer()
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with httpx.Client(verify=False, trust_env=False) as client:  # noqa: S501  plain HTTP on loopback
        for items, _ in rounds:
            for timed in items:
                if timed.whole and 0 < len(timed.exchanges) <= PROPERTIES:
                    pairs[timed.cell].append((timed.seconds, bare(client, server, timed)))
    for cell, both in sorted(pairs.items()):
        check, exchange = median(a for a, _ in both), median(b for _, b in both)
        ratio = median(a / b for a, b in both)
        print(
            f"{cell}: a check {check * 1e3:.2f} ms, the bare exchange of its bodies {exchange * 1e3:.2f} ms: "
            f"{check / exchange:.2f} times (pair by pair {ratio:.2f}; {len(both)} pairs)"
        )
    for items, seconds in rounds[-1:]:
        exchanges = sum(len(timed.exchanges) for timed in items)
        singles = [timed for timed in items if 0 < len(timed.exchanges) <= PROPERTIES]
        rate = len(singles) / sum(timed.seconds for timed in singles)
        print(f"{len(items)} checks with {exchanges} exchanges in {seconds:.2f} s; single checks {rate:.0f} a second")
    print(f"first verdict of the command after {median(first_verdict() for _ in range(REPEATS)):.2f} s")


if __name__ == "__main__":
    main()
