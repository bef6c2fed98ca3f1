"""An interrupt is raised where it does no harm, once, and soon, whichever thread has taken the signal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from looptck.guard.interrupts import ASKING, held, once
from looptck.guard.waiting import LOOK, done_within


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Leave the handlers of the signals as they were."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in ASKING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ASKING)
def test_an_interrupt_waits_for_the_end(number: signal.Signals) -> None:
    """What is done while it is held is done to its end."""
    done: list[str] = []

    with pytest.raises(KeyboardInterrupt):
        _interrupted_inside(number, done)

    assert ["inner", "outer"] == done
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def _interrupted_inside(number: signal.Signals, done: list[str]) -> None:
    with held():
        with held():
            signal.raise_signal(number)
            done.append("inner")
        done.append("outer")


def test_an_error_is_not_lost() -> None:
    """One that is raised where interrupts are held arrives, and the handlers are as before."""
    with pytest.raises(EOFError), held():
        raise EOFError

    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_another_thread_holds_nothing() -> None:
    """Only the main thread is interrupted, and only it may set handlers."""
    held_in: Future[str] = Future()

    def hold() -> None:
        with held():
            held_in.set_result(threading.current_thread().name)

    threading.Thread(target=hold, name="another").start()

    assert "another" == held_in.result(60)


def test_only_the_first_interrupt_counts() -> None:
    """A further one does not interrupt how a process ends, also where the first was held."""
    once()
    with pytest.raises(KeyboardInterrupt), held():
        signal.raise_signal(signal.SIGINT)

    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)


def test_a_wait_ends_soon_after_an_interrupt_that_another_thread_has_taken() -> None:
    """The system wakes only the thread that takes a signal; blocked here, it is taken by another."""
    begun = threading.Event()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    other = threading.Thread(target=_interrupt, args=(begun,))
    other.start()

    with pytest.raises(KeyboardInterrupt):
        _wait_for_ever(begun)

    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    other.join()


def _interrupt(begun: threading.Event) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)


def _wait_for_ever(begun: threading.Event) -> None:
    begun.set()
    done_within(1000 * LOOK, Future())


def test_a_wait_ends_with_a_result_or_with_its_time() -> None:
    """With an error too; a wait of no time only looks."""
    future: Future[None] = Future()

    assert not done_within(0.0, future)
    assert not done_within(-1.0, future)
    future.set_exception(ValueError())
    assert done_within(60.0, future)
    assert done_within(0.0, future)
