"""One operating system process that is a driver: its pipes, its threads, its end.

One thread reads its standard output and reports every complete line and the end; another keeps the end of its standard
error. The process is started in a new session, so that its descendants can be ended with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

from looptck.catalogue.yaml_files import reason
from looptck.drivers import mends
from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse, pulse, served
from looptck.drivers.protocol import Started, complaint
from looptck.guard.descendants import dying_with_this_process

STOPPING = 5.0
"""Seconds that a driver may take to exit after ``stop``."""
HELD_OPEN = 2.0
"""Seconds without a word after which the output of a process that has ended is taken for closed."""
MAX_LINE = 64 * 1024 * 1024
"""The longest line that a driver may write, in bytes."""
REST_KEPT = 1 << 16
"""How many bytes of a line that has no end yet are kept for a message."""
STDERR_KEPT = 4000
"""How many bytes of the end of its standard error are kept."""


class Child:
    """One operating system process, with a thread on its standard output and one on its standard error."""

    def __init__(
        self,
        command: str,
        heard: Callable[[Child, bytes], None],
        ended: Callable[[Child, bytes], None],
    ) -> None:
        self.started = threading.Event()
        self.declared: Started | DriverFault | None = None
        self.alive = True
        self.stopping = False
        self.killed = ""
        """Why the kit ended it."""
        self.end: DriverFault | None = None
        """The fault that its end was, once its open runs have received it."""
        self._heard = heard
        self._ended = ended
        self._rest = b""
        self._errors = bytearray()
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        words: list[str] = []
        try:
            words = shlex.split(command)
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=dying_with_this_process(),  # noqa: PLW1509  it makes two calls of the system
            )
        except (OSError, ValueError) as error:
            mend = mends.of_program(words[0]) if words else "each quote needs its second one"
            raise DriverFault("cannot-start", f"{command!r}: {reason(error)}", mend=mend) from error
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._exited, self._exits = os.pipe()
        self._listening = [
            threading.Thread(target=self._read_errors, daemon=True),
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._await_exit, daemon=True),
        ]
        for thread in self._listening:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def pulse(self) -> Pulse:
        """The pulse of the process and its descendants, and of the thread that reads its lines."""
        reader = self._listening[1].native_id
        return pulse(self.pid, also=() if reader is None else (reader,))

    def declare(self, declared: Started | DriverFault) -> None:
        self.declared = declared
        self.started.set()

    def send(self, message: dict[str, Any]) -> None:
        """Write one line; if the driver has ended, its reader notices."""
        wrong = complaint("to-driver", message)
        if wrong:
            raise ValueError(f"the kit would break its own protocol: {wrong}")
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def stderr(self) -> str:
        """The end of what it wrote to standard error so far, all that is in the pipe included."""
        self._take_errors()
        return bytes(self._errors).decode(errors="replace")

    def half_line(self) -> str:
        """What it wrote after its last line end."""
        return self._rest.decode(errors="replace")

    def status(self) -> int:
        """Its exit status, once its standard output is closed."""
        try:
            return self._process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self.kill("it closed its standard output but did not exit")
            return self._process.wait()
        finally:
            self._listening[0].join(STOPPING)

    def stop(self) -> bool:
        """Ask it to exit; returns whether it did. If not, it is killed."""
        self.stopping = True
        self.send({"type": "stop"})
        self._close_input()
        if not served(STOPPING, self._ended_within, lambda: pulse(self.pid)):
            self.kill("it did not stop")
            return False
        self._listening[1].join(STOPPING)
        if self._listening[1].is_alive():
            self.kill("its child processes did not exit")
        return True

    def _ended_within(self, seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def dismiss(self, why: str) -> None:
        """Kill it for a reason that is reported elsewhere."""
        self.stopping = True
        self.kill(why)

    def kill(self, why: str) -> None:
        """Kill it and its descendants."""
        self.alive = False
        self.killed = self.killed or why
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        pending: list[bytes] = []
        size = 0
        for data in self._output():
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = b"".join([*pending, lines[0]])
                pending, size = [], 0
            pending.append(rest)
            size += len(rest)
            self._rest = (rest if lines else self._rest + rest)[:REST_KEPT]
            for line in lines:
                if line.strip():
                    self._heard(self, line)
            if size > MAX_LINE:
                self.kill(f"it wrote a line of more than {MAX_LINE} bytes")
                break
        self.alive = False
        self._ended(self, b"".join(pending))
        self._process.stdout.close()
        os.close(self._exited)
        self._close_input()

    def _output(self) -> Iterator[bytes]:
        """What it writes to standard output, until that is closed, or until so long after its end.

        What it has started may hold its output open, and would let everybody wait for a process that is gone.
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        waiting.register(self._exited, select.POLLIN)
        patience = None
        while ready := waiting.poll(patience):
            numbers = {number for number, _ in ready}
            if self._exited in numbers:
                waiting.unregister(self._exited)
                patience = HELD_OPEN * 1000
            if descriptor in numbers:
                data = os.read(descriptor, 1 << 16)
                if not data:
                    return
                yield data
        self.kill("what it had started held its standard output open")

    def _await_exit(self) -> None:
        """Let the reader know that the process has ended."""
        self._process.wait()
        os.close(self._exits)

    def _close_input(self) -> None:
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(OSError):
            self._process.stdin.close()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        waiting = select.poll()
        waiting.register(self._process.stderr, select.POLLIN)
        while waiting.poll() and self._take_errors():
            pass
        with self._reading:
            self._process.stderr.close()

    def _take_errors(self) -> bool:
        """Read what is in the pipe of its standard error; returns whether more may come."""
        assert self._process.stderr is not None
        with self._reading, contextlib.suppress(BlockingIOError):
            while not self._process.stderr.closed:
                data = os.read(self._process.stderr.fileno(), 1 << 16)
                if not data:
                    return False
                self._errors += data
                del self._errors[:-STDERR_KEPT]
        return True
