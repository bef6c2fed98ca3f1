"""Limits on the time that code of others may take in this process, where it is called and not waited for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import ENOUGH, LONGEST, Spent, pulse

T = TypeVar("T")

AGAIN = 0.2
"""Seconds between two alarms for a driver that has taken too long to start."""
AT_ONCE = 0.001
"""Seconds until an alarm whose time has come while another one was set."""


class TimeIsOver(BaseException):
    """Raised in what takes too long."""


def within(seconds: float, what: str, work: Callable[[], T]) -> T:
    """Do some work in the main thread, where a driver may set signal handlers, within a time; elsewhere there is none.

    The alarm comes again and again until the work ends: what is raised in a finalizer, or in an import that goes on
    after any error, is lost. What a second alarm makes of the end of the work, such as the error of a lock that is
    released twice, is no other fault. Once the work has ended no alarm raises anything. The time in which the work
    waits for a processor does not count, as in `served`.

    Raises:
        DriverFault: the time is over.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return work()
    limited, over, looking = True, False, False
    spent = Spent(lambda: pulse(os.getpid()), perf_counter)

    def is_over() -> bool:
        """Whether the time is over; no, while a look that this alarm interrupts finds that out."""
        nonlocal looking
        if over or looking:
            return over
        looking = True
        found = spent() >= seconds * (1 - ENOUGH) or perf_counter() - began >= seconds * LONGEST
        looking = False
        return found

    def end(*_: object) -> None:
        nonlocal over
        if limited and is_over():
            over = True
            raise TimeIsOver

    before, began = signal.signal(signal.SIGALRM, end), perf_counter()
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        return work()
    except (Exception, TimeIsOver):
        limited = False
        if not over:
            raise
        raise DriverFault("cannot-start", f"{what} within {seconds:g} s") from None
    finally:
        limited = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if signal.getsignal(signal.SIGALRM) is end:
            signal.signal(signal.SIGALRM, before)
        if left:  # another limit around this one, such as that of a test
            signal.setitimer(signal.ITIMER_REAL, max(left - (perf_counter() - began), AT_ONCE), again)
