"""Watchdogs count the time in which something could have happened: what waits for a processor is not silent."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from looptck.bench.settling import in_time
from looptck.drivers import idle, limits
from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import LONGEST, Pulse, Spent, served
from looptck.values.transcript import Transcript

BILLION = 1_000_000_000


class Machine:
    """A machine on whose clock nothing passes but what is waited for, and whose one thread waits for its processor.

    ``share``: of each second, how much the thread waits for a processor.
    """

    def __init__(self, share: float, *, ends_after: float = 1e9) -> None:
        self.time = 0.0
        self.share = share
        self.ends_after = ends_after

    def look(self) -> Pulse:
        """The thread's statistics."""
        return Pulse(known=True, turns={1: b"0 %d 1" % (self.time * self.share * BILLION)})

    def wait(self, seconds: float) -> bool:
        """Let time pass; whether the end has come."""
        self.time = min(self.time + seconds, max(self.ends_after, self.time))
        return self.time >= self.ends_after


class Clock(Transcript):
    """A transcript on the clock of such a machine."""

    machine: Machine

    def now(self) -> float:
        """The machine's time."""
        return self.machine.time


Waits = Callable[[Machine], bool]


def _run(machine: Machine) -> bool:
    clock = Clock(started=0.0)
    clock.machine = machine
    return in_time(clock, 10.0, machine.wait, list, machine.look)


def _stop(machine: Machine) -> bool:
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(idle, "monotonic", lambda: machine.time)
        return served(10.0, machine.wait, machine.look)


WAITS = pytest.mark.parametrize("waits", [_run, _stop], ids=["run", "stop"])


@WAITS
def test_what_sleeps_is_given_up_in_time(waits: Waits) -> None:
    """Nothing waited for a processor: the time is that on the wall."""
    machine = Machine(0.0)

    assert not waits(machine)
    assert pytest.approx(10.0) == machine.time


@WAITS
def test_what_is_starved_has_more_time(waits: Waits) -> None:
    """With a tenth of a processor, what needs two seconds of it ends, though twice the time is over on the wall."""
    assert waits(Machine(0.9, ends_after=20.0))


@WAITS
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0, 8.0])
def test_no_time_is_endless(waits: Waits, share: float) -> None:
    """However busy the machine is, and however many threads wait."""
    machine = Machine(share)

    assert not waits(machine)
    assert 10.0 < machine.time <= 10.0 * LONGEST * 1.001


def test_short_lives_are_counted() -> None:
    """A thread that waits for a processor and has ended before the time is over gives the run more time."""
    machine = Machine(0.0, ends_after=11.0)

    def look() -> Pulse:
        lives = machine.time < 9.0
        return Pulse(known=True, turns={1: b"0 0 1"} | ({2: b"0 %d 1" % (machine.time * BILLION)} if lives else {}))

    clock = Clock(started=0.0)
    clock.machine = machine

    assert in_time(clock, 10.0, machine.wait, list, look)


@pytest.mark.parametrize(("share", "spent"), [(0.0, 6.0), (0.5, 3.0), (9.0, 0.0)])
def test_what_is_spent(share: float, spent: float) -> None:
    """Of two times of three seconds, that in which nothing waited for a processor."""
    machine = Machine(share)
    asked = Spent(machine.look, lambda: machine.time)
    machine.wait(3.0)
    asked()
    machine.wait(3.0)

    assert pytest.approx(spent) == asked()


def _start(share: float, monkeypatch: pytest.MonkeyPatch, looks: int) -> str:
    """A driver that starts when it was looked at so many times, in a millisecond of its machine each."""
    machine, seen = Machine(share), itertools.count(1)
    done: list[int] = []

    def look(_: int) -> Pulse:
        done.append(next(seen))
        machine.wait(0.001)
        return machine.look()

    def work() -> str:
        while len(done) < looks:
            pass
        return "started"

    monkeypatch.setattr(limits, "pulse", look)
    monkeypatch.setattr(limits, "perf_counter", lambda: machine.time)
    monkeypatch.setattr(limits, "AGAIN", 0.0005)
    return limits.within(0.002, "it did not start", work)


def test_a_start_on_a_busy_machine_has_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a processor in nine of ten seconds starts, though twice the time is over on the wall."""
    assert "started" == _start(0.9, monkeypatch, looks=5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_start_is_endless(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Whether it sleeps, or the machine is as busy as can be."""
    with pytest.raises(DriverFault, match=r"it did not start within 0\.002 s"):
        _start(share, monkeypatch, looks=100)


def test_threads_that_begin_and_end_are_counted() -> None:
    """One that has begun counts from its beginning; one that has ended does not count against others."""
    before = Pulse(known=True, turns={1: b"5 1000000000 1", 2: b"5 7000000000 1"})
    after = Pulse(known=True, turns={1: b"6 3000000000 2", 3: b"1 500000000 1"})

    assert 2.5 == after.starved_since(before)
    assert 0.0 == Pulse().starved_since(before) == Pulse(known=True, turns={4: b""}).starved_since(Pulse())
