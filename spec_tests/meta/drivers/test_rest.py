"""For how long an implementation has been at rest, and whether that is known: whose connections the requests are."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from unittest.mock import PropertyMock, patch

import pytest

from looptck.bench.benches import LoopBench
from looptck.bench.choosing import bench_for
from looptck.bench.scenario import Scenario
from looptck.drivers import standstill
from looptck.drivers.idle import SEEN, Pulse, Rest, pulse
from looptck.drivers.sockets import has_connection
from looptck.provider.server import Provider
from looptck.values.cell import Cell
from looptck.values.turns import says

needs_process_table = pytest.mark.skipif(not pulse(os.getpid()).known, reason="the system does not list its processes")


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ("aaa", [0, 1, 2]),
        ("aba", [0, 0, 0]),
        ("aabb", [0, 1, 0, 1]),
        ("aRRaa", [0, 0, 0, 0, 1]),
        ("a??aa", [0, 0, 0, 0, 1]),
    ],
)
def test_rest_begins_anew_when_a_thread_has_run(looks: str, expected: list[int]) -> None:
    """A thread that runs, or has run between two looks, ends the rest; where nothing is known, nothing rests."""
    seconds, left = iter(range(2 * len(looks))), iter(looks)

    def look() -> Pulse:
        now = next(left)
        return Pulse() if now == "?" else Pulse(known=True, running=now == "R", turns={1: now.encode()})

    clock = 0.0

    def now() -> float:
        return clock

    rest, found = Rest(look, now), []
    for _ in looks:
        clock = next(seconds) * SEEN
        found.append(round(rest() / SEEN))

    assert expected == found


def test_one_look_shows_little_rest() -> None:
    """Where the whole machine stood still, no thread has run either: the time between two looks counts in part."""
    times = iter([0.0, 0.0, 100.0, 100.0 + SEEN / 2])
    rest = Rest(lambda: Pulse(known=True), lambda: next(times))

    assert [0.0, SEEN, pytest.approx(SEEN * 1.5)] == [rest(), rest(), rest()]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port that takes connections."""
    with closing(socket.create_server(("127.0.0.1", 0))) as here:
        yield here


@needs_process_table
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_an_own_connection_is_known(listener: socket.socket, family: socket.AddressFamily) -> None:
    """A process has its own connections, over IPv4 and over IPv6 sockets, until it closes them."""
    to = listener.getsockname()[1]
    with closing(socket.socket(family)) as client:
        try:
            client.connect(("127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1", to))
        except OSError:
            pytest.skip("the system has no IPv6")
        port = client.getsockname()[1]
        own = has_connection(os.getpid(), port, to)

    assert own
    assert not has_connection(os.getpid(), port, to)


ASKS = "import socket, sys; one = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); sys.stdin.read()"


@needs_process_table
def test_a_connection_of_another_process_is_none_of_a_strangers(listener: socket.socket) -> None:
    """A process that was started here is watched with it; a process that it did not start is not its own."""
    to = listener.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", ASKS, str(to)], stdin=subprocess.PIPE) as child:
        connection, (_, port) = listener.accept()
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            known = [has_connection(pid, port, to) for pid in (os.getpid(), child.pid, other.pid)]
            other.communicate(b"\n")
        child.communicate(b"")
        connection.close()

    assert [True, True, False] == known


@needs_process_table
@pytest.mark.parametrize(
    ("told", "known"),
    [
        ([[]], [True]),
        ([[None], [True], [False]], [True, True, True]),
        ([[None], [False], [True]], [True, False, False]),
        ([[True, False]], [False]),
        ([[None, True]], [True]),
    ],
)
def test_rest_is_unknown_where_somebody_else_asks(told: list[list[bool | None]], known: list[bool]) -> None:
    """A driver in front of a service that it did not start may rest while the service works.

    What is told of the connections at the first look that finds an open one decides.
    """
    found = []
    with bench_for("python:looptck_reference.kit.driver:Driver") as bench:
        assert isinstance(bench, LoopBench)
        for now in told:
            each = iter(now)
            peers = patch.object(Provider, "peers", [(n, 1) for n, _ in enumerate(now)])
            with peers, patch.object(bench._connection, "asks_from", lambda *_, each=each: next(each)):
                found.append(bench._pulse().known)

    assert known == found


@needs_process_table
def test_a_connection_that_is_closed_meanwhile_is_not_somebody_elses() -> None:
    """A loop that leaves its stream may have closed the connection before its files are looked through."""
    with bench_for("python:looptck_reference.kit.driver:Driver") as bench:
        assert isinstance(bench, LoopBench)
        peers = patch.object(Provider, "peers", PropertyMock(side_effect=[[(1, 1)], []]))
        with peers, patch.object(bench._connection, "asks_from", lambda *_: False):
            assert bench._pulse().known
        assert bench._is_watched is None


@needs_process_table
@pytest.mark.parametrize("is_own", [True, False])
def test_nothing_stands_still_in_front_of_a_service(is_own: bool) -> None:
    """The first request shows who asks: a driver that waits for a service that it did not start is none that hangs."""
    still = Pulse(known=True, turns={1: b"0 0 0"})
    scenario = Scenario()
    scenario.plays(says("Hello."))

    def looks(bench: LoopBench) -> list[bool]:
        with (
            patch.object(bench._connection, "pulse", lambda: still),
            patch.object(standstill, "waits_endlessly", lambda *_: True),
            patch.object(standstill, "SEEN", 0.0),
        ):
            look = bench.standstill()
            return [look(), look()]

    with bench_for("python:looptck_reference.kit.driver:Driver") as bench:
        assert isinstance(bench, LoopBench)
        assert [False, False] == looks(bench)

        with patch.object(bench._connection, "asks_from", lambda *_: is_own):
            bench.begin(scenario, Cell.parse("openai-chat/plain/sync"), name="asks").result()

        assert [False, is_own] == looks(bench)
