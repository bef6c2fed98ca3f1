"""The watching process: lets a process of its own run the command, passes signals on, and says how that one ended.

Exit status: the one that the command has said it ends with; without that word always 2, whatever the process did.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Protocol, Self

from looptck.guard.descendants import adopt_orphans, is_stopped, kill_descendants
from looptck.guard.endings import STOPPED_ITSELF, ending
from looptck.guard.folder import COULD_NOT_RUN, FOLDER, LIFELINE, Folder, LockedFolder

ENDING = 10.0
"""Seconds that a process may take to exit, once it has said that its command is finished."""
INTERRUPTED = 60.0
"""Seconds that a command may take to stop its driver and write its results, once it is asked to end."""
LOOK = 0.5
"""Seconds between two looks at a process."""
STOPPED = 40
"""Looks in a row at which a process may be stopped. One that stops itself would never go on."""


class _Process(Protocol):
    """The process that is watched, as far as `subprocess.Popen` says it too."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def send_signal(self, sig: int, /) -> None: ...

    def kill(self) -> None: ...


def watch(words: Sequence[str]) -> int | None:
    """Watch another process run this command line; returns the exit status. In that process: None.

    On Linux it is a fork of this one, which has loaded nothing of others; elsewhere the command is started once more,
    since a fork may not use what the system offers.

    Args:
        words: the words behind the program's name, for the message about a process that does not finish.
    """
    adopt_orphans()
    locked = LockedFolder()
    folder = locked.folder
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.environ |= {FOLDER: str(folder.path), LIFELINE: str(reading)}
    process = _fork() if sys.platform == "linux" else _spawned(reading)
    if process is None:
        os.close(writing)
        locked.leave()
        return None
    os.close(reading)
    try:
        with _Signals(process) as signals:
            was_stopped = _wait(process, folder, signals)
        os.close(writing)
        kill_descendants(os.getpid())  # what a driver has left would keep the output open for whoever reads it
        status = folder.status()
        if status is None:
            from looptck.guard.salvage import salvage  # which no other end needs

            end = STOPPED_ITSELF if was_stopped else _end(process.returncode or 0, asked=signals.asked > 0)
            return salvage(folder, end, words, COULD_NOT_RUN)
        return status
    finally:
        locked.remove()


def _spawned(lifeline: int) -> _Process:
    """The same command line once more."""
    import subprocess  # which no fork needs

    return subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, *sys.orig_argv[1:]],
        stdin=subprocess.DEVNULL,
        pass_fds=() if sys.platform == "win32" else (lifeline,),
        process_group=None if sys.platform == "win32" else 0,
    )


def _fork() -> _Forked | None:
    """A fork of this process, in a process group of its own; None: this is the fork."""
    if pid := os.fork():
        with contextlib.suppress(OSError):  # whichever of the two comes first
            os.setpgid(pid, pid)
        return _Forked(pid)
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return None


@dataclass(slots=True)
class _Forked:
    """A fork of this process."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit status, or the negative of the signal that has ended it; None while it is alive."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Signals:
    """What the guard is asked by signals, it asks the command; a second time it kills it."""

    def __init__(self, process: _Process) -> None:
        self.asked = 0
        self.asked_at = 0.0
        self._process = process
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if (number := getattr(signal, name, None)) is not None:
                self._before[number] = signal.signal(number, self._pass_on)
        if hasattr(signal, "SIGTSTP"):
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._pause)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self.asked += 1
        self.asked_at = self.asked_at or time.monotonic()
        with contextlib.suppress(OSError):
            if self.asked > 1:
                self._process.kill()
            elif sys.platform != "win32":  # where a console tells its whole group
                self._process.send_signal(signal.SIGINT if number == signal.SIGINT else signal.SIGTERM)

    def _pause(self, _: int, __: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.killpg(self._process.pid, signal.SIGCONT)


def _wait(process: _Process, folder: Folder, signals: _Signals) -> bool:
    """Wait until a process has ended, and kill it where its end takes too long; returns whether it was stopped."""
    finished_at = None
    stopped, was_stopped = 0, False
    with _end_of(process) as ended:
        while process.poll() is None:
            if ended is None:
                time.sleep(LOOK / 10)
            else:
                select.select([ended], [], [], LOOK)
            now = time.monotonic()
            stopped = stopped + 1 if is_stopped(process.pid) else 0
            if stopped > STOPPED:
                was_stopped = True
                process.kill()
            if finished_at is None and folder.status() is not None:
                finished_at = now
            if finished_at is not None and now - finished_at > ENDING:
                process.kill()
            if signals.asked and now - signals.asked_at > INTERRUPTED:
                process.kill()
    return was_stopped


@contextlib.contextmanager
def _end_of(process: _Process) -> Iterator[int | None]:
    """A descriptor that can be read once the process has ended; None where the system has none."""
    try:
        descriptor = os.pidfd_open(process.pid)  # type: ignore[attr-defined,unused-ignore]
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _end(status: int, *, asked: bool) -> str:
    return f"{ending(status)} {'when it was asked to end' if asked else 'before looptck had finished'}"
