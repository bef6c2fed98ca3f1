"""A program, run in front of it: sets its limits, counts what it starts, and leaves nothing alive behind it.

    python -I -S supervised.py SECONDS MEMORY FILE PROCESSES COMMAND...

Resource limits hold for each process alone. Memory and number of all processes together are read from /proc, where it
is, a few times in a second; a process that leaves its parent or its group is still counted, as this one adopts it.
The exit status is that of the program: 128 plus the number of the signal that ended it; 137 where it was too much.
"""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress

LOOK = 0.05
"""Seconds between two looks."""
SET_CHILD_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux's <sys/prctl.h>."""
PAGE = os.sysconf("SC_PAGE_SIZE")
WAITED_FOR = (signal.SIGCHLD, signal.SIGTERM)
"""The end of a child, and the order to end."""
TOO_MUCH = 137
"""The exit status of a program that was ended for what it used."""


def main(words: list[str]) -> int:
    """Run a program with limits; returns its exit status."""
    seconds, memory, file, processes = map(int, words[:4])
    command = words[4:]
    with suppress(OSError, AttributeError):  # no Linux
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    program = os.fork()
    if program == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITED_FOR)
        limits = ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file))
        for what, most in (*limits, (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(what, (most, most))
        os.execv(command[0], command)  # noqa: S606  there is no shell
    while True:
        ended, status = reaped(program)
        if ended:
            end_all()
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        alive = descendants(os.getpid())
        if len(alive) > processes or sum(map(resident, alive)) > memory or os.getppid() != parent:
            end_all()
            return TOO_MUCH
        heard = signal.sigtimedwait(WAITED_FOR, LOOK)
        if heard is not None and heard.si_signo == signal.SIGTERM:
            end_all()
            return TOO_MUCH


def reaped(program: int) -> tuple[bool, int]:
    """Take the status of all that has ended: whether the program has, and its status."""
    found = (False, 0)
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == program:
            found = (True, status)


def end_all() -> None:
    """Kill everything below this process, and what is started meanwhile."""
    while alive := descendants(os.getpid()):
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reaped(0)
    with suppress(ChildProcessError):
        while True:  # what is killed and has no other parent
            os.waitpid(-1, 0)


def descendants(pid: int) -> list[int]:
    """The processes below one that are alive; none where /proc does not list them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:  # noqa: PTH123  pathlib takes longer to import than all else here
            children = [int(child) for child in file.read().split()]
    except OSError:
        return []
    return [one for child in children for one in (child, *descendants(child)) if state(one) != "Z"]


def state(pid: int) -> str:
    """The letter of a process's state; a zombie's where it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123  pathlib takes longer to import than all else here
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def resident(pid: int) -> int:
    """The memory of a process, in bytes."""
    try:
        with open(f"/proc/{pid}/statm") as file:  # noqa: PTH123  pathlib takes longer to import than all else here
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
