"""How long the kit waits for a run: for as long as it hears of it, and until the implementation is idle."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from time import perf_counter

import pytest

from looptck.bench.settling import EACH, MOST_UNROUTED, SHORT, in_time, may_go_on, waited_for
from looptck.drivers.idle import LONGEST, Pulse, pulse
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script
from looptck.provider.toolbox import Toolbox
from looptck.values.outcome import Value
from looptck.values.transcript import Chunk, Ended, Event, ToolBegan, ToolEnded, Transcript, UnroutedRequest
from looptck.wires import WIRES

PATIENCE = 10.0
DONE = Value("Done.")


@dataclass
class Clocked(Transcript):
    """A transcript whose time passes only while somebody waits."""

    time: float = 0.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time


def test_silence_ends_a_run() -> None:
    """A run of which nothing is heard is given up when the patience is over."""
    transcript = Clocked()

    def ended(seconds: float) -> bool:
        transcript.time += seconds
        return False

    assert not in_time(transcript, PATIENCE, ended, tuple)
    assert PATIENCE == transcript.time == waited_for(transcript, PATIENCE)


def test_a_standstill_ends_a_run_early() -> None:
    """It is looked for after a share of the patience, and what begins to stand still later is given up then."""
    transcript = Clocked()
    looks: list[float] = []

    def ended(seconds: float) -> bool:
        transcript.time += seconds
        return False

    def stands_still() -> bool:
        looks.append(transcript.time)
        return transcript.time >= PATIENCE / 2

    assert not in_time(transcript, PATIENCE, ended, tuple, stands_still=stands_still)
    assert PATIENCE / 2 <= transcript.time < PATIENCE / 2 + 2 * EACH * PATIENCE
    assert SHORT * PATIENCE <= looks[0] < SHORT * PATIENCE + 2 * EACH * PATIENCE


def test_silence_begins_when_the_driver_has_the_case() -> None:
    """A driver that has hung is started anew before the next run, and however long that takes the run has its time."""
    transcript = Clocked(time=5 * PATIENCE, handed_over=5 * PATIENCE)

    def ended(seconds: float) -> bool:
        transcript.time += seconds
        return False

    assert not in_time(transcript, PATIENCE, ended, tuple)
    assert 6 * PATIENCE == transcript.time


def test_asking_keeps_a_run_alive() -> None:
    """A loop that is heard of every now and then has time, and its outcome counts."""
    transcript = Clocked()

    def ended(seconds: float) -> bool:
        transcript.time += seconds * 0.9
        transcript.append(Chunk(transcript.time, "still here"))
        return transcript.time > 5 * PATIENCE

    assert in_time(transcript, PATIENCE, ended, tuple)


def test_what_runs_beside_it_keeps_a_run_alive() -> None:
    """A run that waits for others of a crowd is not given up while something is heard of one of them."""
    begun = perf_counter()
    transcript, other = Clocked(begun), Clocked(begun - 7.0)

    def ended(seconds: float) -> bool:
        transcript.time += seconds * 0.9
        if transcript.time < 3 * PATIENCE:
            other.append(Chunk(transcript.time + 7.0, "still here"))
        return False

    assert not in_time(transcript, PATIENCE, ended, lambda: [transcript, other])
    assert 3 * PATIENCE < transcript.time < 4 * PATIENCE


@pytest.mark.parametrize("unrouted", [True, False])
def test_nothing_keeps_a_run_alive_for_ever(unrouted: bool) -> None:
    """A loop that never ends is given up, sooner where it asks for what nobody answers."""
    transcript = Clocked()

    def ended(seconds: float) -> bool:
        transcript.time += seconds * 0.5
        for _ in range(MOST_UNROUTED):
            transcript.append(
                UnroutedRequest(transcript.time, "GET", "/") if unrouted else Chunk(transcript.time, "more")
            )
        return False

    assert not in_time(transcript, PATIENCE, ended, tuple)
    assert transcript.time <= (2 * PATIENCE if unrouted else LONGEST * PATIENCE)
    assert waited_for(transcript, PATIENCE) == (PATIENCE if unrouted else LONGEST * PATIENCE)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([ToolBegan(1.0, 1, "ping", {}), ToolEnded(2.0, 1, {"value": 1}), Ended(3.0, DONE)], False),
        ([ToolBegan(1.0, 1, "ping", {}), Ended(3.0, DONE), ToolEnded(3.0, 1, {"value": 1})], True),
    ],
)
def test_what_awaited_a_tool_may_go_on(events: list[Event], expected: bool) -> None:
    """A tool that ended when the outcome was there has set somebody to work, however soon the kit looks."""
    mock_run = MockRun(WIRES["openai-chat"], Script(()), Toolbox())
    for event in events:
        mock_run.transcript.append(event)

    assert expected == may_go_on(mock_run)


def test_thread_at_work_is_no_idleness() -> None:
    """A process whose thread works between two looks is not idle; one whose threads wait is."""
    if not pulse(os.getpid()).known:
        pytest.skip("the system does not tell of threads")
    go, done, end = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        go.wait()
        done.set()
        end.wait()

    worker = threading.Thread(target=work)
    worker.start()
    me = {threading.get_native_id()}
    before = _still(me)
    go.set()
    done.wait()
    after = pulse(os.getpid(), me)
    end.set()
    worker.join()

    assert before.shows_idle_since(before)
    assert not after.shows_idle_since(before)


def test_unknown_is_no_idleness() -> None:
    """Where the system tells nothing, nothing is taken for idle."""
    assert not Pulse().shows_idle_since(Pulse())


def _still(me: set[int]) -> Pulse:
    """The pulse of this process once its threads have come to rest."""
    before = pulse(os.getpid(), me)
    while not (now := pulse(os.getpid(), me)).shows_idle_since(before):
        before = now
    return now
