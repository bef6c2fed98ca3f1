"""``cmd:`` drivers: one process for the whole run, JSON lines on its standard input and output.

The life of a driver process: it is started, answers ``start`` with ``started``, takes runs and answers them in any
order, and exits after ``stop``. If it dies, or hangs and is ended, the next run starts a new one. Whatever it does
wrong is laid at the door of the runs that were open on that process at that moment; what it does wrong after a run was
over is kept and told by ``stop``.
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
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from looptck.drivers.connection import OnChunk
from looptck.drivers.faults import DriverFault, Kind
from looptck.drivers.protocol import VERSION, Started, complaint
from looptck.outcome import Outcome, from_message, shortened

STARTING = 30.0
"""Seconds that a driver may take to say ``started``."""
STOPPING = 5.0
"""Seconds that a driver may take to exit after ``stop``."""
FAULTS_IN_A_ROW = 10
"""After so many runs in a row that ended in a fault, the driver is given up."""
MAX_LINE = 64 * 1024 * 1024
STDERR_KEPT = 4000


@dataclass(slots=True)
class _Open:
    """A run that has not finished, and the process that has it."""

    child: _Child
    future: Future[Outcome]
    on_chunk: OnChunk
    faults: list[DriverFault] = field(default_factory=list)


class Process:
    """A connection to the driver that a command line starts.

    Args:
        command: the command line, split as a POSIX shell splits words; no shell runs it.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._child: _Child | None = None
        self._open: dict[str, _Open] = {}
        self._closed: set[str] = set()
        self._late: list[DriverFault] = []
        self._in_a_row = 0
        self._lock = threading.RLock()

    def start(self) -> Started:
        self._child = child = _Child(self._command, self._heard, self._ended)
        child.send({"type": "start", "protocol": VERSION})
        try:
            in_time = child.started.wait(STARTING)
        except BaseException:
            child.dismiss("the kit was interrupted")
            raise
        if not in_time:
            child.dismiss("it took too long to start")
            raise DriverFault("cannot-start", f"no `started` within {STARTING:g} s", stderr=child.stderr())
        if isinstance(child.declared, DriverFault):
            child.dismiss("it could not be started")
            raise child.declared
        assert child.declared is not None
        return child.declared

    def run(self, id: str, case: dict[str, Any], on_chunk: OnChunk) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        try:
            child = self._living()
        except DriverFault as fault:
            fault.run = id
            self._in_a_row += 1
            future.set_exception(fault)
            return future
        with self._lock:
            end = child.end
            if end is None:
                self._open[id] = _Open(child, future, on_chunk)
        if end is None:
            child.send({"type": "run", "id": id, "case": case})
        else:
            self._in_a_row += 1
            future.set_exception(DriverFault(end.kind, end.detail, stderr=end.stderr, run=id))
        return future

    def abandon(self, id: str) -> DriverFault | None:
        """The process is ended; the next run starts a new one."""
        self._in_a_row += 1
        with self._lock:
            run = self._open.pop(id, None)
        if run is None:
            return DriverFault("hung", f"run {id} did not finish in time", run=id)
        told = run.child.half_line()
        stderr = run.child.stderr()
        run.child.dismiss(f"run {id} never finished")
        if run.faults:
            return run.faults[0]
        half = f"; it had written half a line: {shortened(told)}" if told else ""
        return DriverFault("half-line" if told else "hung", f"run {id} never finished{half}", stderr=stderr, run=id)

    def stop(self) -> list[DriverFault]:
        child, self._child = self._child, None
        if child is not None and not child.stop():
            self._late.append(
                DriverFault("hung", f"it did not exit within {STOPPING:g} s of `stop`", stderr=child.stderr())
            )
        return self._late

    def _living(self) -> _Child:
        if self._in_a_row >= FAULTS_IN_A_ROW:
            raise DriverFault("given-up", f"{self._in_a_row} runs in a row ended in a fault of the driver")
        if self._child is None or not self._child.alive:
            self.start()
        assert self._child is not None
        return self._child

    # -- on the reader's thread --------------------------------------------------------------------------------------

    def _heard(self, child: _Child, line: bytes) -> None:
        """One whole line of the driver."""
        if child.killed:
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._wrong(child, "rubbish", shortened(line.decode(errors="replace")))
            return
        wrong = complaint("from-driver", message)
        if wrong:
            self._wrong(child, "bad-message", f"{wrong}: {shortened(line.decode(errors='replace'))}")
        elif message["type"] == "started":
            self._greeted(child, message)
        elif child.declared is None:
            self._wrong(child, "bad-message", f"`{message['type']}` before `started`")
        else:
            self._told(child, message)

    def _greeted(self, child: _Child, message: dict[str, Any]) -> None:
        if child.declared is not None:
            self._wrong(child, "bad-message", "a second `started`")
        else:
            child.declare(Started.from_message(message))

    def _told(self, child: _Child, message: dict[str, Any]) -> None:
        """A ``chunk`` or ``finished``: of an open run, of one that was over, or of none."""
        id, finished = message["id"], message["type"] == "finished"
        with self._lock:
            over = id in self._closed
            run = self._open.get(id)
            if run is not None and finished:
                del self._open[id]
                self._closed.add(id)
        if run is None:
            if not over:
                self._wrong(child, "unknown-id", f"{message['type']} for {id!r}")
            elif finished:
                self._too_late(child, id, "answered-twice", f"a second `finished` for run {id}")
            else:
                self._too_late(child, id, "bad-message", f"a `chunk` for run {id} after its `finished`")
        elif not finished:
            run.on_chunk(message["text"])
        elif run.faults:
            self._in_a_row += 1
            run.future.set_exception(run.faults[0])
        else:
            self._in_a_row = 0
            run.future.set_result(from_message(message["outcome"]))

    def _too_late(self, child: _Child, id: str, kind: Kind, detail: str) -> None:
        self._late.append(DriverFault(kind, detail, stderr=child.stderr(), run=id))

    def _wrong(self, child: _Child, kind: Kind, detail: str) -> None:
        if child.declared is None:
            child.declare(DriverFault("cannot-start", f"{kind}: {detail}", stderr=child.stderr()))
            return
        with self._lock:
            runs = [(id, run) for id, run in self._open.items() if run.child is child]
            for id, run in runs:
                run.faults.append(DriverFault(kind, detail, stderr=child.stderr(), run=id))
        if not runs:
            self._late.append(DriverFault(kind, detail, stderr=child.stderr()))

    def _ended(self, child: _Child, rest: bytes) -> None:
        """The driver's standard output is closed; ``rest`` is what came after its last line end."""
        status = child.status()
        kind: Kind = "half-line" if rest else "crashed"
        detail = f"exit status {status}" + (f", after {shortened(rest.decode(errors='replace'))}" if rest else "")
        if child.killed:
            kind, detail = "crashed", f"the kit ended it: {child.killed}"
        if child.declared is None:
            child.declare(DriverFault("cannot-start", f"{kind}: {detail}", stderr=child.stderr()))
            return
        with self._lock:
            child.end = DriverFault(kind, detail, stderr=child.stderr())
            lost = {id: run for id, run in self._open.items() if run.child is child}
            for id in lost:
                del self._open[id]
                self._closed.add(id)
        for id, run in lost.items():
            self._in_a_row += 1
            fault = run.faults[0] if run.faults else DriverFault(kind, detail, stderr=child.stderr(), run=id)
            run.future.set_exception(fault)
        if not lost and not child.stopping:
            self._late.append(child.end)


class _Child:
    """One operating system process, with a thread on its standard output and one on its standard error."""

    def __init__(
        self,
        command: str,
        heard: Callable[[_Child, bytes], None],
        ended: Callable[[_Child, bytes], None],
    ) -> None:
        self.started = threading.Event()
        self.declared: Started | DriverFault | None = None
        self.alive = True
        self.stopping = False
        self.killed = ""
        """Why the kit ended it."""
        self.end: DriverFault | None = None
        """How it ended, once its open runs have been told."""
        self._heard = heard
        self._ended = ended
        self._rest = b""
        self._errors = bytearray()
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise DriverFault("cannot-start", f"{command!r}: {error}") from error
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        self._listening = [
            threading.Thread(target=self._read_errors, daemon=True),
            threading.Thread(target=self._read_lines, daemon=True),
        ]
        for thread in self._listening:
            thread.start()

    def declare(self, declared: Started | DriverFault) -> None:
        self.declared = declared
        self.started.set()

    def send(self, message: dict[str, Any]) -> None:
        """Write one line; a driver that is gone is noticed by its reader."""
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
            self.kill("its standard output was closed and it lived on")
            return self._process.wait()
        finally:
            self._listening[0].join(STOPPING)

    def stop(self) -> bool:
        """Ask it to exit; whether it did. One that does not is ended."""
        self.stopping = True
        self.send({"type": "stop"})
        self._close_input()
        try:
            self._process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self.kill("it did not stop")
            return False
        self._listening[1].join(STOPPING)
        if self._listening[1].is_alive():
            self.kill("what it had started lived on")
        return True

    def dismiss(self, why: str) -> None:
        """End it for a reason that is told elsewhere."""
        self.stopping = True
        self.kill(why)

    def kill(self, why: str) -> None:
        """End it and what it started."""
        self.alive = False
        self.killed = self.killed or why
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        pending: list[bytes] = []
        size = 0
        while data := os.read(descriptor, 1 << 16):
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = b"".join([*pending, lines[0]])
                pending, size = [], 0
            pending.append(rest)
            size += len(rest)
            self._rest = rest if lines else self._rest + rest[: 1 << 12]
            for line in lines:
                if line.strip():
                    self._heard(self, line)
            if size > MAX_LINE:
                self.kill(f"it wrote a line of more than {MAX_LINE} bytes")
                break
        self.alive = False
        self._ended(self, b"".join(pending))
        self._process.stdout.close()
        self._close_input()

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
        """Read what is in the pipe of its standard error; whether more may come."""
        assert self._process.stderr is not None
        with self._reading, contextlib.suppress(BlockingIOError):
            while not self._process.stderr.closed:
                data = os.read(self._process.stderr.fileno(), 1 << 16)
                if not data:
                    return False
                self._errors += data
                del self._errors[:-STDERR_KEPT]
        return True
