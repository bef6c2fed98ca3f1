"""``cmd:`` drivers: one process for the whole run, JSON lines on its standard input and output.

The life of a driver process: it is started, answers ``start`` with ``started``, takes runs and answers them in any
order, and exits after ``stop``. If it dies, or hangs and is killed, the next run starts a new process. A fault counts
for the runs that were open on that process at that moment; ``stop`` returns the faults after the end of a run.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from looptck.drivers import mends
from looptck.drivers.child import STOPPING, Child
from looptck.drivers.connection import OnTold
from looptck.drivers.faults import STILL_CALLING, DriverFault, Kind
from looptck.drivers.idle import Pulse, served
from looptck.drivers.protocol import VERSION, Started, complaint
from looptck.drivers.sockets import has_connection
from looptck.drivers.uncaught import of_stderr
from looptck.guard.endings import ending
from looptck.values.outcome import Outcome, from_message, shortened

STARTING = 120.0
"""Seconds that a driver may take to send ``started``, unless it is said otherwise."""
MOST_LATE = 100
"""How many faults outside of runs are kept."""
FAULTS_IN_A_ROW = 10
"""After this number of consecutive runs with a fault, the driver is given up."""


@dataclass(slots=True)
class _Open:
    """A run that has not finished, and its process."""

    child: Child
    future: Future[Outcome]
    on_told: OnTold
    faults: list[DriverFault] = field(default_factory=list)
    misdirected: DriverFault | None = None
    """An answer under the id of a run that was over, while this one was open: it may have been meant for this one."""


class Process:
    """A connection to the driver that a command line starts.

    Args:
        command: the command line, split as a POSIX shell splits words; no shell runs it.
        starting: seconds that it may take to send ``started``.
    """

    def __init__(self, command: str, starting: float | None = None) -> None:
        self._command = command
        self._starting = STARTING if starting is None else starting
        self._child: Child | None = None
        self._open: dict[str, _Open] = {}
        self._closed: set[str] = set()
        self._spoiled: set[str] = set()
        """Runs that ended with a message that cannot be read; what is said of them later is not heard."""
        self._late: list[DriverFault] = []
        self._in_a_row = 0
        self._lock = threading.RLock()

    def start(self) -> Started:
        self._child = child = Child(self._command, self._on_line, self._ended)
        child.send({"type": "start", "protocol": VERSION})
        try:
            in_time = served(self._starting, child.started.wait, child.pulse)
        except BaseException:
            child.dismiss("looptck was interrupted")
            raise
        if not in_time:
            half, stderr = child.half_line(), child.stderr()
            child.dismiss("it took too long to start")
            written = f"; it had written, without a line end: {shortened(half)}" if half else ""
            mend = mends.of_rest(half) if half else mends.STARTED
            detail = f"no `started` within {self._starting:g} s{written}"
            raise DriverFault("cannot-start", detail, stderr=stderr, mend=mend)
        if isinstance(child.declared, DriverFault):
            child.dismiss("it could not be started")
            raise child.declared
        assert child.declared is not None
        return child.declared

    def run(self, id: str, case: dict[str, Any], on_told: OnTold) -> Future[Outcome]:
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
                self._open[id] = _Open(child, future, on_told)
        if end is None:
            child.send({"type": "run", "id": id, "case": case})
        else:
            self._in_a_row += 1
            future.set_exception(DriverFault(end.kind, end.detail, stderr=end.stderr, run=id))
        return future

    def cancel(self, id: str) -> None:
        """Send ``cancel``, unless the run is over."""
        with self._lock:
            run = self._open.get(id)
        if run is not None:
            run.child.send({"type": "cancel", "id": id})

    def renew(self) -> None:
        """Stop the process; the next run starts a new one."""
        self._stop()

    def abandon(self, id: str, *, begun: bool = False) -> DriverFault | None:
        """Kill the process; the next run starts a new one."""
        self._in_a_row = 0 if begun else self._in_a_row + 1
        with self._lock:
            run = self._open.pop(id, None)
        if run is None:
            return DriverFault("hung", f"run {id} did not finish in time", run=id)
        rest = run.child.half_line()
        stderr = run.child.stderr()
        run.child.dismiss(f"run {id} never finished")
        if run.faults:
            return run.faults[0]
        if run.misdirected is not None:
            return run.misdirected
        mend = mends.of_rest(rest) if rest else mends.FINISHED
        written = "a message without a line end" if rest and mend else "half a line"
        half = f"; it had written {written}: {shortened(rest)}" if rest else ""
        kind: Kind = "half-line" if rest else "hung"
        return DriverFault(kind, f"run {id} never finished{half}", stderr=stderr, run=id, mend=mend)

    def pulse(self) -> Pulse:
        """The pulse of the process and its descendants."""
        return Pulse() if self._child is None else self._child.pulse()

    def asks_from(self, port: int, to: int) -> bool | None:
        """Whether the process or a descendant has this connection; None: closed."""
        return None if self._child is None else has_connection(self._child.pid, port, to)

    def kept_spans(self) -> tuple[()]:
        """No spans: a driver process exports them."""
        return ()

    def stop(self) -> list[DriverFault]:
        self._stop()
        return self._late

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None and not child.stop():
            self._late.append(
                DriverFault("hung", f"it did not exit within {STOPPING:g} s of `stop`", stderr=child.stderr())
            )

    def _living(self) -> Child:
        if self._in_a_row >= FAULTS_IN_A_ROW:
            raise DriverFault("given-up", f"{self._in_a_row} runs in a row ended in a fault of the driver")
        if self._child is None or not self._child.alive:
            self.start()
        assert self._child is not None
        return self._child

    # -- on the reader's thread --------------------------------------------------------------------------------------

    def _on_line(self, child: Child, line: bytes) -> None:
        """Handle one complete line of the driver."""
        if child.killed:
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode(errors="replace")
            self._wrong(child, "rubbish", shortened(text), mends.of_line(text))
            return
        wrong = complaint("from-driver", message)
        if wrong:
            detail = f"{wrong}: {shortened(line.decode(errors='replace'))}"
            self._wrong(child, "bad-message", detail, mends.of_message(message))
            self._on_bad_end(message)
        elif message["type"] == "started":
            self._on_started(child, message)
        elif child.declared is None:
            self._wrong(child, "bad-message", f"`{message['type']}` before `started`")
        else:
            self._on_run_message(child, message)

    def _on_started(self, child: Child, message: dict[str, Any]) -> None:
        if child.declared is not None:
            self._wrong(child, "bad-message", "a second `started`")
        else:
            child.declare(Started.from_message(message))

    def _on_bad_end(self, message: Any) -> None:
        """End the run of a ``finished`` that cannot be read: its driver may well say no more of it."""
        id = message.get("id") if isinstance(message, dict) and message.get("type") == "finished" else None
        if not isinstance(id, str):
            return
        with self._lock:
            run = self._open.pop(id, None)
            if run is None:
                return
            self._spoiled.add(id)
        self._in_a_row += 1
        run.future.set_exception(run.faults[0])

    def _on_run_message(self, child: Child, message: dict[str, Any]) -> None:
        """Handle ``chunk``, ``event`` or ``finished``: of an open run, an ended run, or an unknown one."""
        id, finished = message["id"], message["type"] == "finished"
        if id in self._spoiled:
            return
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
                what = "a `chunk`" if message["type"] == "chunk" else "an `event`"
                self._too_late(child, id, "bad-message", f"{what} for run {id} after its `finished`: {STILL_CALLING}")
        elif not finished:
            run.on_told(message["text"] if message["type"] == "chunk" else message["event"])
        elif run.faults:
            self._in_a_row += 1
            run.future.set_exception(run.faults[0])
        else:
            self._in_a_row = 0
            run.future.set_result(from_message(message["outcome"]))

    def _too_late(self, child: Child, id: str, kind: Kind, detail: str) -> None:
        self._add_late(DriverFault(kind, detail, stderr=child.stderr(), run=id))
        with self._lock:
            waiting = [(open_id, run) for open_id, run in self._open.items() if run.child is child]
        for open_id, run in waiting:
            detail = f"{detail}, while run {open_id} was open"
            run.misdirected = run.misdirected or DriverFault(kind, detail, stderr=child.stderr(), run=open_id)

    def _add_late(self, fault: DriverFault) -> None:
        """Keep what came to light after a run, as far as there is room."""
        if len(self._late) < MOST_LATE:
            self._late.append(fault)

    def _wrong(self, child: Child, kind: Kind, detail: str, mend: str = "") -> None:
        if child.declared is None:
            child.declare(DriverFault("cannot-start", f"{kind}: {detail}", stderr=child.stderr(), mend=mend))
            return
        with self._lock:
            runs = [(id, run) for id, run in self._open.items() if run.child is child]
            for id, run in runs:
                run.faults.append(DriverFault(kind, detail, stderr=child.stderr(), run=id, mend=mend))
        if not runs:
            self._add_late(DriverFault(kind, detail, stderr=child.stderr(), mend=mend))

    def _ended(self, child: Child, rest: bytes) -> None:
        """The driver's standard output is closed; ``rest`` is the text after its last line end."""
        status = child.status()
        kind: Kind = "half-line" if rest else "crashed"
        text = rest.decode(errors="replace")
        end = ending(status) if status and status < 0 else f"exit status {status}"
        detail = end + (f", after {shortened(text)}" if rest else "")
        mend = mends.of_rest(text) or ("" if rest or status else mends.READING)
        if child.killed:
            kind, detail, mend = "crashed", f"looptck killed it: {child.killed}", ""
        if child.declared is None:
            child.declare(DriverFault("cannot-start", f"{kind}: {detail}", stderr=child.stderr(), mend=mend))
            return
        with self._lock:
            child.end = DriverFault(kind, detail, stderr=child.stderr(), mend=mend)
            lost = {id: run for id, run in self._open.items() if run.child is child}
            for id in lost:
                del self._open[id]
                self._closed.add(id)
        uncaught = of_stderr(status, child.stderr())
        for id, run in lost.items():
            self._in_a_row += uncaught is None
            own = DriverFault(kind, detail, stderr=child.stderr(), run=id, mend=mend, uncaught=uncaught)
            fault = run.faults[0] if run.faults else own
            run.future.set_exception(fault)
        if not lost and not child.stopping:
            self._add_late(child.end)
