"""Drivers that do something to the process in which they are, one of several of a run."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

from looptck.suite import worker
from looptck_reference.kit.driver import Driver

NOTES = Path(os.environ.get("NOTES", "."))
"""The folder in which they leave word."""
(NOTES / f"loaded-{os.getpid()}").touch()


def first(name: str) -> bool:
    """Whether no other process has done this before."""
    try:
        (NOTES / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class Plays(Driver):
    """Does what the reference does, and says which process is the parent of its process."""

    def start(self) -> Any:
        (NOTES / f"parent-{os.getppid()}").touch()
        return super().start()


class OneEnds(Driver):
    """One of the processes ends in its second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2 and first("ended"):
            os._exit(0)
        return super().run(*words)


class FourEnd(Driver):
    """Four of the processes end in their second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2 and any(first(f"ended-{number}") for number in range(4)):
            os._exit(3)
        return super().run(*words)


class EachEnds(Driver):
    """Each of the processes is killed in its second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(*words)


class OneStops(Driver):
    """One of the processes stops itself in its second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2 and first("stopped"):
            os.kill(os.getpid(), signal.SIGSTOP)
        return super().run(*words)


class Waits(Driver):
    """Says through a pipe that its second run has begun, and never returns from it."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2:
            (NOTES / "pipe").write_text("!", encoding="ascii")
            threading.Event().wait()
        return super().run(*words)

    def stop(self) -> None:
        (NOTES / f"stop-{os.getpid()}").touch()


class Differs(Driver):
    """Declares other wires when it is started once more."""

    def start(self) -> Any:
        return super().start() | ({} if first("started") else {"wires": ["openai-chat"]})


class OneEndsAndLeavesAFork(OneEnds):
    """The same, and what it has forked lives on and keeps every connection open."""

    def run(self, *words: Any) -> Any:
        if self._runs == 1 and not (NOTES / "ended").exists() and os.fork() == 0:
            signal.pause()
        return super().run(*words)


class StartIsKilled(Driver):
    """Ends its process by SIGKILL in ``start``."""

    def start(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().start()


class TrialWaits(Waits):
    """Says through a pipe that its first run has begun, and never returns from it."""

    _runs = 1


class LastToStartWaits(Waits):
    """Of the processes that play, the one that starts last never does; both say through a pipe how far they are."""

    def start(self) -> Any:
        if not first("tries") and not first("plays"):
            (NOTES / "pipe").write_text("!", encoding="ascii")
            threading.Event().wait()
        return super().start()


class DiffersInVersion(Driver):
    """Declares another version each time that it is started."""

    def start(self) -> Any:
        return super().start() | {"version": str(os.getpid())}


class OneIsInterrupted(Driver):
    """One of the processes gets SIGINT in its second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == 2 and first("interrupted"):
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait()
        return super().run(*words)


class StartStops(Driver):
    """Stops its process in ``start``."""

    def start(self) -> Any:
        os.kill(os.getpid(), signal.SIGSTOP)
        return super().start()


class BreaksTheKit(Driver):
    """Takes the kit apart when it is started once more."""

    def start(self) -> Any:
        if not first("started"):
            vars(worker)["News"].take = None
        return super().start()
