"""Limits on the time that code of others may take in this process, where it is called and not waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from looptck.drivers.faults import DriverFault

AGAIN = 0.2
"""Seconds between two alarms for a driver that has taken too long to start."""
AT_ONCE = 0.001
"""Seconds until an alarm whose time has come while another one was set."""


class TimeIsOver(BaseException):
    """Raised in what takes too long."""


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """A limit on what is done in the main thread, where a driver may set signal handlers; elsewhere there is none.

    The alarm comes again and again until the block is left: what is raised in a finalizer, or in an import that goes on
    after any error, is lost.

    Raises:
        DriverFault: the time is over.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    limited = True

    def end(*_: object) -> None:
        if limited:
            raise TimeIsOver

    before, began = signal.signal(signal.SIGALRM, end), perf_counter()
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    except TimeIsOver:
        raise DriverFault("cannot-start", f"{what} within {seconds:g} s") from None
    finally:
        limited = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if signal.getsignal(signal.SIGALRM) is end:
            signal.signal(signal.SIGALRM, before)
        if left:  # another limit around this one, such as that of a test
            signal.setitimer(signal.ITIMER_REAL, max(left - (perf_counter() - began), AT_ONCE), again)
