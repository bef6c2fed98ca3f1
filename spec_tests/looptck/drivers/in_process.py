"""``python:`` drivers: an object in this process, its sync runs on threads, its async runs on one event loop."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import queue
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any

from looptck.driver import emitted, load
from looptck.driver import error as failed
from looptck.drivers import mends
from looptck.drivers.connection import OnTold
from looptck.drivers.faults import STILL_CALLING, DriverFault, last_line
from looptck.drivers.idle import Pulse, pulse, served
from looptck.drivers.limits import TimeIsOver, within
from looptck.drivers.methods import called
from looptck.drivers.protocol import VERSION, Started, complaint
from looptck.drivers.sockets import has_connection
from looptck.guard.waiting import done_within
from looptck.values.outcome import Outcome, from_message

KIT = str(Path(__file__).parents[1])
"""The folder of looptck's own code."""
STARTING = 60.0
"""Seconds that a driver may take to be imported and to start, unless it is said otherwise."""
STOPPING = 5.0
"""Seconds that a driver may take over ``stop``."""
CLEARING = 2.0
"""Seconds that tasks and generators may take to end when the driver has stopped."""
ANSWERING = 1.0
"""Seconds that an event loop may take to show that no task blocks it."""
MOST_LATE = 100
"""How many faults outside of runs are kept."""
KITS_OWN = frozenset({"looptck provider", "looptck client"})
"""The names of the kit's threads in this process."""


class InProcess:
    """A connection to ``module:name`` or ``file.py:name``, a driver class without constructor arguments.

    ``starting``: seconds that it may take to be imported and to start.
    """

    def __init__(self, reference: str, starting: float | None = None) -> None:
        self._reference = reference
        self._starting = STARTING if starting is None else starting
        self._driver: Any = None
        self._loop: _EventLoop | None = None
        self._workers: list[_Worker] = []
        self._runs: dict[str, _Run] = {}
        self._late: list[DriverFault] = []

    def start(self) -> Started:
        try:
            found = within(self._starting, "start() did not return", self._started)
        except (DriverFault, KeyboardInterrupt):
            raise
        except BaseException as error:  # an import that exits would end looptck with status 0
            stderr = _traceback(error) if _is_of_its_code(error) else ""
            mend = mends.of_module(self._reference, error)
            raise DriverFault("cannot-start", last_line(error), stderr=stderr, mend=mend) from error
        if not isinstance(found, Mapping):
            raise DriverFault("cannot-start", f"start() returned {found!r:.200}, not a mapping: return started(…)")
        declared = {"type": "started", "protocol": VERSION, **found}
        wrong = complaint("from-driver", declared)
        if wrong:
            raise DriverFault("cannot-start", f"start() returned an invalid declaration: {wrong}")
        return Started.from_message(declared)

    def _started(self) -> Any:
        """Import the driver, make one, and ask what it declares."""
        self._driver = load(self._reference)()
        return called(self._driver, "start")

    def run(self, id: str, case: dict[str, Any], on_told: OnTold) -> Future[Outcome]:
        run = self._runs[id] = _Run(id, on_told, self._late)
        run.may_be_cancelled = "leave_after" in case.get("options", ())
        if case["mode"] == "async":
            run.task = self._event_loop().submit(self._run_async(run, case))
        else:
            run.worker = self._worker()
            run.worker.take(lambda: self._run_sync(run, case))
        return run.result

    def cancel(self, id: str) -> None:
        """Call the driver's ``cancel`` on a thread of its own; without one, cancel the task of the run."""
        run = self._runs.get(id)
        if run is None:
            return
        run.may_be_cancelled = True
        if hasattr(self._driver, "cancel"):
            self._worker().take(lambda: self._cancel(run))
        elif run.task is not None:
            run.task.cancel()

    def renew(self) -> None:
        """Take another object of the driver's class."""
        self._end()
        self.start()

    def abandon(self, id: str, *, begun: bool = False) -> DriverFault | None:
        """Cancel a task. A thread cannot be cancelled: it is abandoned, and so is an event loop that a task blocks."""
        run = self._runs.pop(id, None)
        if run is None:
            return None
        run.abandoned = True
        if run.worker is not None:
            self._workers.remove(run.worker)
            run.worker.leave()
        if run.task is not None and self._loop is not None:
            run.task.cancel()
            if not self._loop.answers():
                self._loop = None
        return run.wrong

    def pulse(self) -> Pulse:
        """The pulse of all threads of this process except the current one and looptck's own."""
        own = {thread.native_id for thread in threading.enumerate() if thread.name in KITS_OWN}
        return pulse(os.getpid(), {threading.get_native_id(), *(id for id in own if id is not None)})

    def asks_from(self, port: int, to: int) -> bool | None:
        """Whether this process or a descendant has this connection; None: closed."""
        return has_connection(os.getpid(), port, to)

    def kept_spans(self) -> Iterable[Any]:
        """The spans of the driver's ``span_exporter``, if it has one."""
        exporter = getattr(self._driver, "span_exporter", None)
        return () if exporter is None else exporter.get_finished_spans()

    def stop(self) -> list[DriverFault]:
        self._end()
        return self._late

    def _end(self) -> None:
        """Stop the driver, its threads and its event loop."""
        stopping = _Worker()
        stopped: Future[None] = Future()
        stopping.take(lambda: self._stop(stopped))
        if not served(STOPPING, lambda seconds: done_within(seconds, stopped), self.pulse):
            self._late.append(DriverFault("hung", f"stop() did not return within {STOPPING:g} s"))
        for worker in (*self._workers, stopping):
            worker.leave()
        self._workers = []
        if self._loop is not None:
            self._loop.end()
            self._loop = None

    def _run_sync(self, run: _Run, case: dict[str, Any]) -> None:
        try:
            run.finished(called(self._driver, "run", case, run.emit))
        except BaseException as error:
            run.crashed(error, _mend(error))
        self._runs.pop(run.id, None)

    async def _run_async(self, run: _Run, case: dict[str, Any]) -> None:
        try:
            run.finished(await called(self._driver, "run_async", case, run.emit))
        except asyncio.CancelledError as cancelled:
            if run.may_be_cancelled:
                run.finished(failed(cancelled, "cancelled"))
            else:
                run.crashed(cancelled)
        except BaseException as error:
            run.crashed(error, _mend(error))
        self._runs.pop(run.id, None)

    def _cancel(self, run: _Run) -> None:
        try:
            called(self._driver, "cancel", run.id)
        except BaseException as error:
            if run.result.done():
                self._late.append(_crash(run.id, error))
            run.crashed(error)

    def _stop(self, stopped: Future[None]) -> None:
        try:
            if hasattr(self._driver, "stop"):
                stopping = called(self._driver, "stop")
                if asyncio.iscoroutine(stopping):
                    self._event_loop().submit(stopping).result()
        except BaseException as error:
            self._late.append(_crash(None, error))
        stopped.set_result(None)

    def _event_loop(self) -> _EventLoop:
        """The event loop that all async runs share."""
        if self._loop is None:
            self._loop = _EventLoop()
        return self._loop

    def _worker(self) -> _Worker:
        for worker in self._workers:
            if not worker.busy:
                return worker
        self._workers.append(_Worker())
        return self._workers[-1]


class _Run:
    """One run: its thread or task, and its result."""

    def __init__(self, id: str, on_told: OnTold, late: list[DriverFault]) -> None:
        self.id = id
        self.result: Future[Outcome] = Future()
        self.wrong: DriverFault | None = None
        self.abandoned = False
        self.may_be_cancelled = False
        """Whether the kit has asked for it, or for leaving the stream."""
        self.worker: _Worker | None = None
        self.task: Future[None] | None = None
        self._on_told = on_told
        self._late = late

    def emit(self, told: Any) -> None:
        """The driver calls this with each chunk and event. It does not raise: the loop would catch the error.

        Where the run has been given up, it ends the thread, which would work on beside all further runs.
        """
        if self.abandoned:
            raise TimeIsOver
        message = emitted(self.id, told)
        what = "a chunk" if message["type"] == "chunk" else "an event"
        wrong = complaint("from-driver", message)
        if self.result.done() and len(self._late) >= MOST_LATE:
            return
        if self.result.done():
            detail = f"{what} for run {self.id} after its end: {STILL_CALLING}"
            self._late.append(DriverFault("bad-message", detail, run=self.id))
        elif wrong:
            self.wrong = DriverFault("bad-message", f"{what} of {told!r}: {wrong}", run=self.id)
        else:
            self._on_told(told)

    def finished(self, answer: object) -> None:
        outcome = _outcome(self.id, answer)
        if self.wrong is not None:
            raise self.wrong
        with suppress(InvalidStateError):  # its cancelling has crashed
            self.result.set_result(outcome)

    def crashed(self, error: BaseException, mend: str = "") -> None:
        with suppress(InvalidStateError):
            self.result.set_exception(_crash(self.id, error, mend))


class _Worker:
    """A thread that runs one thing at a time."""

    def __init__(self) -> None:
        self.busy = False
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="looptck driver", daemon=True).start()

    def take(self, job: Callable[[], None]) -> None:
        self.busy = True
        self._jobs.put(job)

    def leave(self) -> None:
        """End the thread after its current job."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # which holds what it was about
            self.busy = False


class _EventLoop:
    """An event loop in a separate thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="looptck driver loop", daemon=True)
        self._thread.start()

    def submit(self, coroutine: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def answers(self) -> bool:
        """Whether the event loop responds, so that no task blocks it."""
        answered = threading.Event()
        self._loop.call_soon_threadsafe(answered.set)
        return answered.wait(ANSWERING)

    def end(self) -> None:
        """End what the driver has left, as ``asyncio.run`` does, and then the event loop."""
        ending = self.submit(_end_all())
        with suppress(TimeoutError, CancelledError):
            ending.result(CLEARING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPING)
        if not self._thread.is_alive():
            self._loop.close()


async def _end_all() -> None:
    """Cancel the other tasks of the event loop, and close its generators."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.sleep(0)  # a transport that was closed by them is closed in the next round of the event loop
    await asyncio.sleep(0)


def _is_of_its_code(error: BaseException) -> bool:
    """Whether the driver's own code is in the traceback, and not only what looks for the driver."""
    if isinstance(error, SyntaxError):
        return True
    places = {frame.filename for frame in traceback.extract_tb(error.__traceback__)} - {importlib.__file__}
    return any(not place.startswith((KIT, "<frozen importlib")) for place in places)


def _traceback(error: BaseException) -> str:
    """The traceback from the driver's own code on."""
    place = error.__traceback__
    while place is not None and place.tb_frame.f_code.co_filename.startswith(
        (KIT, "<frozen importlib", importlib.__file__)
    ):
        place = place.tb_next
    return "".join(traceback.format_exception(type(error), error, place))


def _outcome(id: str, answer: object) -> Outcome:
    message = {"type": "finished", "id": id, "outcome": answer}
    wrong = complaint("from-driver", message)
    if wrong:
        mend = mends.of_answer(answer)
        if inspect.iscoroutine(answer):
            answer.close()  # or Python warns of it
        raise DriverFault("bad-message", f"run() returned {answer!r}: {wrong}", run=id, mend=mend)
    return from_message(message["outcome"])  # type: ignore[arg-type]


def _mend(error: BaseException) -> str:
    """What mends a driver whose run has raised, if it was the driver's own code."""
    return mends.RAISED if isinstance(error, Exception) and _is_of_its_code(error) else ""


def _crash(id: str | None, error: BaseException, mend: str = "") -> DriverFault:
    if isinstance(error, DriverFault):
        return error
    text = "".join(traceback.format_exception(error))
    return DriverFault("crashed", last_line(error), stderr=text, run=id, mend=mend)
