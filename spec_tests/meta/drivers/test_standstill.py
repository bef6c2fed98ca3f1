"""A standstill is seen where all threads wait without a time limit and nobody else can wake them, and nowhere else."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from looptck.bench.settling import come_to_rest
from looptck.drivers.idle import Pulse, pulse
from looptck.drivers.standstill import CALLS, SEEN, Standstill, waits_endlessly
from looptck.guard.process_table import threads

NODE = shutil.which("node")
BEGUN = "begun"
ASYNC = """
import asyncio
async def main():
    say()
    await {}
asyncio.run(main())
"""
CHILD = "import subprocess, sys; say(); subprocess.run([sys.executable, '-c', {!r}])"
WAIT, SLEEP = "import threading; threading.Event().wait()", "import time; time.sleep(60)"
ENDLESS = {
    "a lock": f"say(); {WAIT}",
    "a queue, on several threads": (
        "import queue, threading; boxes = [queue.Queue() for _ in range(3)]\n"
        "for box in boxes: threading.Thread(target=box.get).start()\n"
        "say(); boxes[0].get()"
    ),
    "a future of asyncio": ASYNC.format("asyncio.get_running_loop().create_future()"),
    "a socket to itself": "import socket; one, two = socket.socketpair(); say(); one.recv(1)",
    "a child that waits": CHILD.format(WAIT),
}
LIMITED = {
    "a sleep": f"say(); {SLEEP}",
    "a lock with a limit": "import threading; say(); threading.Event().wait(60)",
    "a timer of asyncio": ASYNC.format("asyncio.sleep(60)"),
    "a child that sleeps": CHILD.format(SLEEP),
    "one thread of two": f"import threading; threading.Timer(60, say).start(); say(); {WAIT}",
    "a timer of the system": f"import ctypes; ctypes.CDLL(None).timerfd_create(1, 0); say(); {WAIT}",
    "work": "say()\nwhile True: pass",
}
RESTING = 2.0
"""Seconds after which a process that never rests is looked at nevertheless."""
IN_JAVASCRIPT = {"process.stdin.resume()": True, "setTimeout(() => 0, 60000)": False}

IS_TOLD = platform.machine() in CALLS and Path("/proc/self/syscall").exists()

pytestmark = pytest.mark.skipif(not IS_TOLD, reason="the system does not tell in which call a thread waits")


@contextmanager
def begun(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has said that it has begun."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        try:
            assert BEGUN == process.stdout.readline().decode().strip()
            yield process
        finally:
            for one in [*threads(process.pid)]:
                with suppress(ProcessLookupError):
                    os.kill(one.process, signal.SIGKILL)
            process.wait()


def in_python(code: str) -> tuple[str, ...]:
    """A process with this code."""
    return sys.executable, "-c", f"def say(): print({BEGUN!r}, flush=True)\n{code}"


def waits(process: subprocess.Popen[bytes], known: tuple[int, ...] = ()) -> bool:
    """Whether a process that has come to rest waits without a time limit."""
    come_to_rest(lambda: pulse(process.pid), most=RESTING)
    return waits_endlessly(pulse(process.pid).turns, known)


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_what_waits_without_a_limit_is_seen(code: str) -> None:
    """Whatever it waits for, in however many threads and processes."""
    with begun(*in_python(code)) as process:
        assert waits(process)


@pytest.mark.parametrize("code", LIMITED.values(), ids=LIMITED)
def test_what_may_go_on_does_not_stand_still(code: str) -> None:
    """One thread with a limit is enough."""
    with begun(*in_python(code)) as process:
        assert not waits(process)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize(("code", "is_endless"), IN_JAVASCRIPT.items(), ids=["input", "timer"])
def test_timers_of_node_are_limits(code: str, is_endless: bool) -> None:
    """Its event loop waits with the time of its next timer, and without one if it has none."""
    assert NODE is not None
    with begun(NODE, "-e", f"console.log({BEGUN!r}); {code}") as process:
        assert is_endless == waits(process)


def test_a_connection_to_somebody_else_may_wake_it() -> None:
    """The kit knows what it owes itself, and not what others do."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; there = socket.create_connection(('127.0.0.1', {port})); say(); there.recv(1)"
        with begun(*in_python(code)) as process, server.accept()[0]:
            assert not waits(process)
            assert waits(process, (port,))


def seen(*looks: tuple[Pulse, bool], each: float) -> list[bool]:
    """What looks at these pulses say, in each of which the kit may owe something, this many seconds apart."""
    left, times = list(looks), iter(number * each for number in range(len(looks)))
    standstill = Standstill(lambda: left[0][0], lambda: left[0][1], tuple, lambda: next(times))
    said = []
    while left:
        said.append(standstill())
        left.pop(0)
    return said


def test_a_standstill_has_to_last() -> None:
    """It begins anew where a thread has run, and where the kit owes something, and takes a second each time."""
    with begun(*in_python(ENDLESS["a lock"])) as process:
        assert waits(process)
        still = pulse(process.pid)
        moved = Pulse(True, False, dict.fromkeys(still.turns, b"1 2 3"))

        assert [False, False, True] == seen(*[(still, False)] * 3, each=SEEN / 2)
        assert [False, False, False, True] == seen((still, False), *[(moved, False)] * 3, each=SEEN / 2)
        assert [False, False, False, False] == seen((still, False), (still, True), *[(still, False)] * 2, each=SEEN / 2)
        assert not any(seen(*[(still, True)] * 4, each=SEEN))


def test_what_is_not_known_does_not_stand_still() -> None:
    """Nor do no threads, and one that has ended."""
    assert not any(seen(*[(Pulse(), False)] * 5, each=SEEN))
    assert not waits_endlessly([2**22 + 1], ())
