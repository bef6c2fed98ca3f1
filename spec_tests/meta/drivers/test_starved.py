"""Watchdogs count the time in which something could have happened: what waits for a processor is not silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from looptck.bench.settling import in_time
from looptck.drivers import idle
from looptck.drivers.idle import LONGEST, Pulse, served
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


def test_threads_that_begin_and_end_are_counted() -> None:
    """One that has begun counts from its beginning; one that has ended does not count against others."""
    before = Pulse(known=True, turns={1: b"5 1000000000 1", 2: b"5 7000000000 1"})
    after = Pulse(known=True, turns={1: b"6 3000000000 2", 3: b"1 500000000 1"})

    assert 2.5 == after.starved_since(before)
    assert 0.0 == Pulse().starved_since(before) == Pulse(known=True, turns={4: b""}).starved_since(Pulse())
