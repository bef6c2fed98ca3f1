"""Broken drivers in this process; the docstring of each class states its bug."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from meta.drivers.fake_driver import FOR_EVER, Json, ask, loop

Emit = Callable[[str], None]

DECLARED = {
    "name": "fake", "version": "1", "language": "python", "wires": ["openai-chat"], "modes": ["sync", "async"],
    "profiles": [], "capabilities": {"concurrent": True},
}  # fmt: skip


class Driver:
    """Behaves correctly; its async runs are sync runs on a thread."""

    declared: ClassVar[Any] = DECLARED

    def start(self) -> Any:
        """The driver's description."""
        return self.declared

    def run(self, case: Json, emit: Emit) -> Any:
        """Run a case in sync mode."""
        return {"kind": "value", "text": loop(case)}

    async def run_async(self, case: Json, emit: Emit) -> Any:
        """Run a case in async mode."""
        return await asyncio.to_thread(self.run, case, emit)


class SetsASignalHandler(Driver):
    """Behaves correctly; as SDKs that catch signals do, it sets a handler, which the main thread alone may do."""

    def start(self) -> Any:
        """Set the handler, and describe the driver."""
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        return super().start()


class HangsAtStart(Driver):
    """Never returns from start."""

    def start(self) -> NoReturn:
        """Wait for ever."""
        while True:
            threading.Event().wait()


class HangsInAFinalizer(Driver):
    """Never returns from start, and is in a finalizer when its time is over: what is raised there is lost."""

    def start(self) -> NoReturn:
        """Wait for the first alarm where it is lost, and then for ever."""
        _Waits()
        while True:
            threading.Event().wait()


class _Waits:
    def __del__(self) -> None:
        threading.Event().wait()


class LeavesAtStart(Driver):
    """Raises an error at start that is no Exception."""

    def start(self) -> NoReturn:
        """Raise it."""
        raise GeneratorExit("the fake leaves")


class Raises(Driver):
    """Raises an error that it should report as an outcome."""

    def run(self, case: Json, emit: Emit) -> NoReturn:
        ask(case, case["messages"])
        raise KeyError("the fake has crashed")


class Exits(Driver):
    """Calls sys.exit instead of raising an error."""

    def run(self, case: Json, emit: Emit) -> NoReturn:
        sys.exit(0)

    async def run_async(self, case: Json, emit: Emit) -> NoReturn:
        sys.exit(0)


class Interrupts(Driver):
    """Raises KeyboardInterrupt, like a loop with its own signal handlers."""

    def run(self, case: Json, emit: Emit) -> NoReturn:
        raise KeyboardInterrupt

    async def run_async(self, case: Json, emit: Emit) -> NoReturn:
        raise KeyboardInterrupt


class Stops(Driver):
    """Raises StopIteration, which no coroutine can raise."""

    def run(self, case: Json, emit: Emit) -> Any:
        return next(iter(()))

    async def run_async(self, case: Json, emit: Emit) -> Any:
        return self.run(case, emit)


class Cancels(Driver):
    """Cancels itself."""

    def run(self, case: Json, emit: Emit) -> NoReturn:
        raise asyncio.CancelledError("by itself")

    async def run_async(self, case: Json, emit: Emit) -> NoReturn:
        raise asyncio.CancelledError("by itself")


class Returns(Driver):
    """Returns only the text instead of an outcome."""

    def run(self, case: Json, emit: Emit) -> str:
        return loop(case)


class StopsInItsOwnWord(Driver):
    """Returns the stop reason in the word of the service."""

    def run(self, case: Json, emit: Emit) -> Any:
        return {"kind": "value", "text": loop(case), "stop": "stop"}


class ReturnsAnObject(Driver):
    """Returns an outcome that is not JSON."""

    def run(self, case: Json, emit: Emit) -> Any:
        return {"kind": "value", "text": object()}


class NotAsync(Driver):
    """Offers async runs that are not async; its sync runs raise the same error."""

    def run(self, case: Json, emit: Emit) -> NoReturn:
        raise TypeError("can't be used in 'await' expression")

    def run_async(self, case: Json, emit: Emit) -> Any:
        return {"kind": "value", "text": loop(case)}


class NoRun:
    """Declares capabilities, but has no methods for runs."""

    def start(self) -> Any:
        """The driver's description."""
        return DECLARED


class EmitsANumber(Driver):
    """Emits a number in place of a text, and suppresses the resulting error."""

    def run(self, case: Json, emit: Emit) -> Any:
        try:
            emit(7)  # type: ignore[arg-type]
        finally:
            answer = super().run(case, emit)
        return answer


class EmitsLate(Driver):
    """Emits a chunk of a run that has ended."""

    last: Emit | None = None

    def run(self, case: Json, emit: Emit) -> Any:
        if self.last:
            self.last("late")
        self.last = emit
        return super().run(case, emit)


class WrongOnce(Driver):
    """Answers its first run without asking the model, and is well behaved from then on."""

    first = True

    def run(self, case: Json, emit: Emit) -> Any:
        if self.first:
            self.first = False
            return {"kind": "value", "text": "Oh."}
        return super().run(case, emit)


class Hangs(Driver):
    """Does nothing about a run, and never will."""

    def run(self, case: Json, emit: Emit) -> Any:
        FOR_EVER.wait()

    async def run_async(self, case: Json, emit: Emit) -> Any:
        await asyncio.Event().wait()


class HangsLater(Driver):
    """Answers in its first run, and never again."""

    answered = False

    def run(self, case: Json, emit: Emit) -> Any:
        """Answer once."""
        if self.answered:
            FOR_EVER.wait()
        self.answered = True
        return super().run(case, emit)


class LoopHangs(Driver):
    """The loop behind it asks the model once, and then waits for ever."""

    def run(self, case: Json, emit: Emit) -> Any:
        ask(case, case["messages"])
        FOR_EVER.wait()

    async def run_async(self, case: Json, emit: Emit) -> Any:
        await asyncio.to_thread(ask, case, case["messages"])
        await asyncio.Event().wait()


class BlocksItsEventLoop(Driver):
    """Its first async run blocks the event loop that all of them share."""

    blocked = False

    async def run_async(self, case: Json, emit: Emit) -> Any:
        if not self.blocked:
            self.blocked = True
            FOR_EVER.wait()
        return await super().run_async(case, emit)


class LeavesATask(Driver):
    """Behaves correctly; after its async runs a task goes on and a generator stays open, until the event loop ends."""

    left: ClassVar[list[str]] = []
    kept: ClassVar[list[object]] = []

    async def run_async(self, case: Json, emit: Emit) -> Any:
        """Run a case, and leave a task that waits and a generator that has begun."""
        pieces = self.pieces()
        await anext(pieces)
        self.kept.extend([asyncio.create_task(self.waiting()), pieces])
        return await super().run_async(case, emit)

    async def waiting(self) -> None:
        """Wait until it is cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            self.left.append("task")

    async def pieces(self) -> Any:
        """Give a piece, and wait to be closed."""
        try:
            yield "piece"
        finally:
            self.left.append("generator")


class NeedsArguments(Driver):
    """Cannot be made without an argument."""

    def __init__(self, loop: object) -> None:
        self.loop = loop


class DeclaresAList(Driver):
    """Declares a list."""

    declared = ("openai-chat",)


class DeclaresNonsense(Driver):
    """Declares a mode that there is not."""

    declared: ClassVar[Any] = {**DECLARED, "modes": ["telepathic"]}


class ExitsAtStart(Driver):
    """Calls sys.exit with the status of a success when it is started."""

    def start(self) -> NoReturn:
        sys.exit(0)


class CannotStop(Driver):
    """Raises when it is stopped."""

    def stop(self) -> NoReturn:
        """End."""
        raise RuntimeError("the pool is closed")


class StopsOneRun(Driver):
    """Has a method of its own that is called ``stop``."""

    def stop(self, id: str) -> None:
        """End a run."""


class NeverStops(Driver):
    """Hangs when it is stopped."""

    def stop(self) -> None:
        """End."""
        FOR_EVER.wait()
