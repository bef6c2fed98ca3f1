"""Measures the speed of the suite on the reference.

Two figures. What a check costs beside the bare httpx exchange of the same bodies: every example-based check of the
sync cells is timed whole (pytest's set-up and tear-down, the judge, the verdict); right behind it its requests are sent
once more by a plain ``httpx.Client`` to a server that only writes the recorded replies. How many checks a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from looptck.commands.pytest_run import run_pytest
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.suite.options import Options
from looptck.suite.plugin import check_of
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from tools.bench.replayer import Replayer

REPEATS = 5
FEW = 30
"""The maximum number of exchanges of a single check."""


@dataclass(slots=True)
class Timed:
    """One check: its time, its exchanges, and the time of a plain httpx client for the same exchanges."""

    cell: str
    seconds: float = 0.0
    bare: float = 0.0
    exchanges: list[tuple[HttpRequest, bytes]] = field(default_factory=list)
    whole: bool = True
    """Whether every reply was a single write; other checks wait for gates or are truncated, and are left out."""

    @property
    def single(self) -> bool:
        """Whether it is a check with a few exchanges, not a property or an endless loop."""
        return self.whole and 0 < len(self.exchanges) <= FEW


class Stopwatch:
    """A pytest plugin that times each check, and directly afterwards the bare exchange of the same bodies.

    Both are timed in pairs, so that both run under the same load of the machine.
    """

    def __init__(self, bare: Callable[[Timed], float]) -> None:
        self.items: list[Timed] = []
        self._bare = bare

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Time the check from before set-up to after tear-down."""
        check = check_of(item)
        timed = Timed(str(check.cell) if check else "")
        self.items.append(timed)
        start = perf_counter()
        result = yield
        timed.seconds = perf_counter() - start
        if timed.single:
            timed.bare = self._bare(timed)
        return result

    def answer(self, mock_run: MockRun, request: HttpRequest) -> HttpReply | None:
        """Replaces ``MockRun.answer``: the same answer, recorded."""
        reply = ANSWER(mock_run, request)
        timed = self.items[-1]
        if reply is not None and len(reply.parts) == 1 and isinstance(reply.parts[0], bytes) and not reply.then_close:
            timed.exchanges.append((request, reply.parts[0]))
        else:
            timed.whole = False
        return reply


ANSWER = MockRun.answer


class Plainly:
    """A plain client of a server that answers with recorded bytes."""

    def __init__(self) -> None:
        self._server = Replayer()
        self._client = httpx.Client(verify=False, trust_env=False)  # noqa: S501  plain HTTP on loopback

    def exchange(self, timed: Timed) -> float:
        """The time for the exchanges of a check, in seconds."""
        self._server.replies([reply for _, reply in timed.exchanges])
        requests = [(self._server.origin + request.path, request.body) for request, _ in timed.exchanges]
        headers = {"content-type": "application/json", "authorization": "Bearer looptck-dummy-key"}
        start = perf_counter()
        for url, body in requests:
            self._client.post(url, content=body, headers=headers)
        return perf_counter() - start


def suite(client: Plainly) -> tuple[list[Timed], float]:
    """Run the suite on the reference in the sync cells; return its checks, and the total time in seconds."""
    watch = Stopwatch(client.exchange)
    session = Session.begin(Options(selection=Selection(cells=("*/sync",)), examples=1, asks=False))
    with patch.object(MockRun, "answer", lambda mock_run, request: watch.answer(mock_run, request)):  # noqa: PLW0108
        start = perf_counter()
        run_pytest(session, plugins=[watch])
        return watch.items, perf_counter() - start - sum(timed.bare for timed in watch.items)


def main() -> None:
    """Measure and print."""
    client = Plainly()
    rounds = [suite(client) for _ in range(REPEATS)]
    pairs: dict[str, list[Timed]] = defaultdict(list)
    for items, _ in rounds:
        for timed in items:
            if timed.single:
                pairs[timed.cell].append(timed)
    for cell, singles in sorted(pairs.items()):
        check, bare = median(timed.seconds for timed in singles), median(timed.bare for timed in singles)
        ratio = median(timed.seconds / timed.bare for timed in singles)
        print(
            f"{cell}: a check {check * 1e3:.2f} ms, the bare exchange of its bodies {bare * 1e3:.2f} ms: "
            f"{check / bare:.2f} times (pair by pair {ratio:.2f}; {len(singles)} pairs)"
        )
    items, seconds = min(rounds, key=lambda one: one[1])
    exchanges = sum(len(timed.exchanges) for timed in items)
    rate = 1 / median(timed.seconds for timed in items if timed.single)
    print(f"{len(items)} checks, {exchanges} exchanges in {seconds:.2f} s; the median check alone: {rate:.0f} a second")
