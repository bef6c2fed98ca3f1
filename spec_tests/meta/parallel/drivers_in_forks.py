"""Drivers that do something to the process in which they are, one of several of a run."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

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
    """Declares another version each time that it is started."""

    def start(self) -> Any:
        return super().start() | {"version": str(os.getpid())}
