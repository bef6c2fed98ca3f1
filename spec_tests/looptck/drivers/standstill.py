"""Standstill: whether all threads of an implementation wait without a time limit, so that only others can wake them.

Linux tells in which system call a thread waits, and with which arguments. One that waits with a time limit may go on
by itself, and so may one of a process with a timer, or with a connection to somebody whom the kit does not know.
What is not known here counts as able to go on.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection
from time import monotonic

from looptck.drivers.idle import Pulse
from looptck.drivers.sockets import established, open_files
from looptck.guard.process_table import Thread

ANYTHING, NO_TIME, FOREVER = "anything", "no time", "forever"
"""When a call waits without a time limit: always; if the address of its time is none; if its milliseconds are -1."""
CALLS: dict[str, dict[int, tuple[str, int]]] = {
    "x86_64": {
        0: (ANYTHING, 0),  # read
        7: (FOREVER, 2),  # poll
        23: (NO_TIME, 4),  # select
        45: (ANYTHING, 0),  # recvfrom
        61: (ANYTHING, 0),  # wait4
        202: (NO_TIME, 3),  # futex
        232: (FOREVER, 3),  # epoll_wait
        247: (ANYTHING, 0),  # waitid
        270: (NO_TIME, 4),  # pselect6
        271: (NO_TIME, 2),  # ppoll
        281: (FOREVER, 3),  # epoll_pwait
        288: (ANYTHING, 0),  # accept4
        441: (NO_TIME, 3),  # epoll_pwait2
    },
    "aarch64": {
        22: (FOREVER, 3),  # epoll_pwait
        63: (ANYTHING, 0),  # read
        72: (NO_TIME, 4),  # pselect6
        73: (NO_TIME, 2),  # ppoll
        95: (ANYTHING, 0),  # waitid
        98: (NO_TIME, 3),  # futex
        207: (ANYTHING, 0),  # recvfrom
        242: (ANYTHING, 0),  # accept4
        260: (ANYTHING, 0),  # wait4
        441: (NO_TIME, 3),  # epoll_pwait2
    },
}
"""By the kind of machine: the numbers of the calls that may wait without end, and the argument with their time."""
SEEN = 1.0
"""Seconds for which all must have stood still."""
_NEVER = 0xFFFFFFFF
_TIMER = "anon_inode:[timerfd]"


class Standstill:
    """Whether an implementation stands still, and has for `SEEN` seconds of looks; it is asked again and again."""

    def __init__(
        self,
        look: Callable[[], Pulse],
        owes: Callable[[], bool] = lambda: False,
        known: Callable[[], Collection[int]] = tuple,
        now: Callable[[], float] = monotonic,
    ) -> None:
        """Look at an implementation.

        Args:
            look: its pulse.
            owes: whether the kit has still to send it anything.
            known: the ports at this machine on which the kit answers it.
            now: the time, in seconds.
        """
        self._look, self._owes, self._known, self._now = look, owes, known, now
        self._since: float | None = None
        self._last = Pulse()
        self.seen = False
        """Whether it has stood still."""

    def __call__(self) -> bool:
        """Look once more."""
        before, self._last = self._last, self._look()
        if not self._last.turns or self._owes() or not waits_endlessly(self._last.turns, self._known()):
            self._since = None
        elif self._since is None or not self._last.shows_idle_since(before):
            self._since = self._now()
        else:
            self.seen = self._now() - self._since >= SEEN
        return self.seen


def waits_endlessly(threads: Collection[int], known: Collection[int]) -> bool:
    """Whether all threads of these ids wait without a time limit, and nobody else can wake their processes.

    ``known``: the ports on which the kit answers.
    """
    try:
        if not all(_is_endless(Thread(id, id).read("syscall")) for id in threads):
            return False
    except OSError:  # a thread has ended meanwhile, or the system does not tell
        return False
    files = {file for id in threads for file in open_files(id)}
    return _TIMER not in files and not _has_strangers(files, known)


def _is_endless(call: bytes) -> bool:
    """Whether a system call, as the process table has it, waits without a time limit."""
    number, *arguments = call.split()
    calls = CALLS.get(platform.machine(), {})
    if not number.isdigit() or int(number) not in calls:
        return False
    how, place = calls[int(number)]
    if how == ANYTHING:
        return True
    given = int(arguments[place], 16)
    return given == 0 if how == NO_TIME else given & _NEVER == _NEVER


def _has_strangers(files: Collection[str], known: Collection[int]) -> bool:
    """Whether one of these open files is a TCP connection to somebody else than the kit and these processes."""
    own = {ends: inode for ends, inode in established() if f"socket:[{inode}]" in files}
    return any(not {*ends} & {*known} and ends[::-1] not in own for ends in own)
