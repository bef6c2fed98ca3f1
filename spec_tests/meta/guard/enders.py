"""Drivers in the kit's process that end it, or harm it, each in one place."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from looptck_reference.kit.driver import Driver


class StartExits(Driver):
    """Ends the process, as if all were well, in ``start``."""

    def start(self) -> Any:
        os._exit(0)


class SecondRunExits(Driver):
    """Ends the process in its second run."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == AT:
            os._exit(0)
        return super().run(*words)


class SecondRunIsKilled(SecondRunExits):
    """Ends by a fatal signal in its second run."""

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == AT:
            os.kill(os.getpid(), signal.SIGSEGV)
            threading.Event().wait()
        return Driver.run(self, *words)


class StopExits(Driver):
    """Ends the process in ``stop``, when every verdict is known."""

    def stop(self) -> None:
        os._exit(0)


class ClosesOutput(Driver):
    """Closes standard output, the object and the descriptor."""

    def run(self, *words: Any) -> Any:
        sys.stdout.close()
        os.close(1)
        return super().run(*words)


class WrongAndExitsAtTheEnd(Driver):
    """Answers wrong, and ends the process with status 0 while the interpreter exits."""

    def start(self) -> Any:
        atexit.register(lambda: os._exit(0))
        return super().start()

    def run(self, *words: Any) -> Any:
        return super().run(*words) | {"text": "Another answer."}


class Prints(Driver):
    """Writes to standard output, by Python and past it."""

    def run(self, *words: Any) -> Any:
        sys.stdout.write("by write\n")
        os.write(1, b"by descriptor\n")
        return super().run(*words)


class LeavesAProcess(Driver):
    """Starts a process in its first run that outlives it, with the same output, and writes its id to PIPE."""

    def run(self, *words: Any) -> Any:
        if not Path(os.environ["PIPE"]).exists():
            left = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
            Path(os.environ["PIPE"]).write_text(str(left.pid), encoding="ascii")
        return super().run(*words)


class AsksTheTerminal(Driver):
    """Reads from the terminal, as for a key, and writes to PIPE how that ended."""

    def run(self, *words: Any) -> Any:
        try:
            with Path("/dev/tty").open() as terminal:
                terminal.read(1)
        except OSError as error:
            Path(os.environ["PIPE"]).write_text(type(error).__name__, encoding="ascii")
        return super().run(*words)


class Waits(Driver):
    """Opens the pipe PIPE in its second run, and never returns from it; writes the file STOPPED when it is stopped."""

    _runs = 0

    def run(self, *words: Any) -> Any:
        self._runs += 1
        if self._runs == AT:
            Path(os.environ["PIPE"]).write_text(str(os.getpid()), encoding="ascii")
            threading.Event().wait()
        return super().run(*words)

    def stop(self) -> None:
        Path(os.environ["STOPPED"]).touch()


AT = 3
"""The run in which they act: the first is played before the first check."""
