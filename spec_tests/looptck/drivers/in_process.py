"""``python:`` drivers: an object in this process, its sync runs on threads, its async runs on one event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from looptck.drivers.connection import OnChunk
from looptck.drivers.faults import DriverFault
from looptck.drivers.protocol import VERSION, Started, complaint
from looptck.drivers.serve import load
from looptck.outcome import Outcome, from_message


class InProcess:
    """A connection to ``module:name`` or ``file.py:name``, a driver class without constructor arguments."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self._driver: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._workers: list[_Worker] = []

    def start(self) -> Started:
        try:
            self._driver = load(self._reference)()
            declared = {"type": "started", **self._driver.start()}
        except Exception as error:
            raise DriverFault("cannot-start", _last_line(error), stderr=traceback.format_exc()) from error
        declared.setdefault("protocol", VERSION)
        wrong = complaint("from-driver", declared)
        if wrong:
            raise DriverFault("cannot-start", f"start() declares what the protocol does not know: {wrong}")
        return Started.from_message(declared)

    def run(self, id: str, case: dict[str, Any], on_chunk: OnChunk) -> Future[Outcome]:
        result: Future[Outcome] = Future()
        open_run = [True]

        def emit(text: str) -> None:
            if open_run:
                on_chunk(text)

        def finish(call: Callable[[], object]) -> None:
            try:
                outcome = _outcome(id, call())
            except Exception as error:
                fault = error if isinstance(error, DriverFault) else _crash(id, error)
                result.set_exception(fault)
            else:
                result.set_result(outcome)
            finally:
                open_run.clear()

        if case["mode"] == "async":
            coroutine = self._driver.run_async(case, emit)
            running = asyncio.run_coroutine_threadsafe(coroutine, self._event_loop())
            running.add_done_callback(lambda done: finish(done.result))
        else:
            self._worker().take(lambda: finish(lambda: self._driver.run(case, emit)))
        return result

    def abandon(self, id: str) -> DriverFault | None:
        """A thread cannot be ended: the worker is left behind, and a new one takes the next run."""
        self._workers = [worker for worker in self._workers if not worker.busy]
        return None

    def stop(self) -> list[DriverFault]:
        faults = []
        if hasattr(self._driver, "stop"):
            try:
                self._driver.stop()
            except Exception as error:
                faults.append(_crash(None, error))
        for worker in self._workers:
            worker.leave()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
        return faults

    def _worker(self) -> _Worker:
        for worker in self._workers:
            if not worker.busy:
                return worker
        self._workers.append(_Worker())
        return self._workers[-1]

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="looptck driver loop", daemon=True).start()
        return self._loop


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
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            self.busy = False


def _outcome(id: str, answer: object) -> Outcome:
    message = {"type": "finished", "id": id, "outcome": answer}
    wrong = complaint("from-driver", message)
    if wrong:
        raise DriverFault("bad-message", f"run() returned {answer!r}: {wrong}", run=id)
    return from_message(message["outcome"])  # type: ignore[arg-type]


def _crash(id: str | None, error: Exception) -> DriverFault:
    told = "".join(traceback.format_exception(error))
    return DriverFault("crashed", _last_line(error), stderr=told, run=id)


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()
