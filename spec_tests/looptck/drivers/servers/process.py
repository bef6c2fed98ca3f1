"""A server as a process: it is started, awaited until it accepts connections, and ended with its descendants."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO

from looptck.catalogue.yaml_files import reason
from looptck.drivers.faults import DriverFault
from looptck.guard.descendants import dying_with_this_process
from looptck.values.frozen import dataclass

STARTING = 60.0
"""Seconds until it must accept connections."""
STOPPING = 5.0
"""Seconds that it may take to end after SIGTERM."""
BETWEEN = 0.02
"""Seconds between two attempts to connect."""
KEPT = 4000
"""How many bytes of the end of its output are shown."""


@dataclass(frozen=True, slots=True)
class Log:
    """What a process writes to stdout and stderr."""

    file: IO[bytes]

    @property
    def size(self) -> int:
        """How many bytes it has written so far."""
        return os.fstat(self.file.fileno()).st_size

    def since(self, start: int) -> str:
        """The end of what it has written from this byte on; empty once the process was ended."""
        try:
            start = max(start, self.size - KEPT)
            return os.pread(self.file.fileno(), KEPT, start).decode(errors="replace")
        except ValueError:  # the file is closed
            return ""


class Process:
    """One operating system process with a port. ``mend``: what may mend it if it takes no connection.

    Raises:
        DriverFault: it cannot be started.
    """

    def __init__(self, words: Sequence[str], port: int, mend: str = "") -> None:
        self._words = words
        self._mend = mend
        self._port = port
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
                preexec_fn=dying_with_this_process(),  # noqa: PLW1509  it makes two calls of the system
            )
        except (OSError, ValueError) as error:
            self._output.close()
            raise DriverFault("cannot-start", f"{' '.join(words)}: {reason(error)}") from error

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def log(self) -> Log:
        return Log(self._output)

    def wait(self) -> None:
        """Wait until it accepts connections.

        Raises:
            DriverFault: it ends before that, or takes too long.
        """
        until = time.monotonic() + STARTING
        while time.monotonic() < until:
            if (status := self._process.poll()) is not None:
                raise self._fault(f"ended with status {status} before it took a connection")
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), timeout=1.0).close()
                return
            time.sleep(BETWEEN)
        raise self._fault(f"takes no connection on port {self._port} after {STARTING:g} s")

    def end(self) -> None:
        """End it and its descendants, with SIGTERM and if necessary SIGKILL. Further calls have no effect."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(STOPPING)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        self._signal(signal.SIGKILL)
        self._output.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _fault(self, what: str) -> DriverFault:
        """A fault with the end of the process's output."""
        output = self.log.since(0)
        self.end()
        return DriverFault("cannot-start", f"{' '.join(self._words)}: {what}", stderr=output, mend=self._mend)
