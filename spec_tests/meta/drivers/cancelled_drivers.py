"""Drivers whose runs never end by themselves, and are cancelled."""

from __future__ import annotations

import asyncio
import threading

from looptck.driver import Case, Emit, Outcome, Started, error, started, value


class Cancelled(Exception):
    """The run was cancelled."""


class ByTask:
    """Has no `cancel`: the task of a run is cancelled."""

    def start(self) -> Started:
        return started("waits", "1", wires=["openai-chat"], modes=["sync", "async"], cancel=True, interrupt=True)

    def run(self, case: Case, emit: Emit) -> Outcome:
        return value("In sync mode nothing waits.")

    async def run_async(self, case: Case, emit: Emit) -> Outcome:
        emit("waiting")
        await asyncio.Event().wait()
        return value(None)


class ByMethod(ByTask):
    """Is told by the id of the case."""

    def __init__(self) -> None:
        self._wanted: dict[str, threading.Event] = {}

    def run(self, case: Case, emit: Emit) -> Outcome:
        wanted = self._wanted[case["id"]] = threading.Event()
        emit("waiting")
        wanted.wait()
        return error(Cancelled(case["id"]), "cancelled")

    async def run_async(self, case: Case, emit: Emit) -> Outcome:
        return await asyncio.get_running_loop().run_in_executor(None, self.run, case, emit)

    def cancel(self, id: str) -> None:
        self._wanted[id].set()


class Catches(ByTask):
    """Makes an outcome of its own of the cancelled task."""

    async def run_async(self, case: Case, emit: Emit) -> Outcome:
        try:
            return await super().run_async(case, emit)
        except asyncio.CancelledError:
            return value("as far as it went", stop="other")


class RaisesOnCancel(ByMethod):
    """Its `cancel` is broken."""

    def cancel(self, id: str) -> None:
        raise KeyError(id)


class Counts(ByTask):
    """Says how many runs this object has had."""

    def __init__(self) -> None:
        self._runs = 0

    def run(self, case: Case, emit: Emit) -> Outcome:
        self._runs += 1
        return value(str(self._runs))
