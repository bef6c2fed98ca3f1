"""Mutants of the 010 loop: which calls run, and when."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import Any

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import MISSING, Path, Unresolved, references, resolve, value_of
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Start, Step
from looptck_reference.loop.values import Json

LATE = ("loop010-no-wake-up-is-lost", "loop010-both-triggers-rescan")
"""What falls where a call that is ready does not begin."""
SCHEDULES = "loop010-schedules-do-not-matter"


def being_written(tick: CallScheduler) -> set[Path]:
    """The paths that running calls are to write."""
    return {path for one in tick.running for path in tick.context.destinations(one)}


@breaks("loop010-unblocked-calls-run-together")
class TenAtATime(SolutionLoop):
    """Runs ten Activities at a time and no more."""

    places: asyncio.Semaphore | None = None

    async def dispatch(self, start: Start) -> Any:
        self.places = self.places or asyncio.Semaphore(10)
        async with self.places:
            return await super().dispatch(start)


@breaks("loop010-unblocked-calls-run-together")
class OneToolOneCall(SolutionLoop):
    """Runs the calls of one tool one after another."""

    locks: defaultdict[str, asyncio.Lock] | None = None

    async def dispatch(self, start: Start) -> Any:
        self.locks = self.locks or defaultdict(asyncio.Lock)
        async with self.locks[start.activity]:
            return await super().dispatch(start)


@breaks(
    "loop010-unblocked-calls-run-together",
    collateral={("loop010-no-batch-barrier", *LATE): "a call that has become ready is left waiting"},
)
class OneAtATime(SolutionLoop):
    """Runs one Activity at a time."""

    lock: asyncio.Lock | None = None

    async def dispatch(self, start: Start) -> Any:
        self.lock = self.lock or asyncio.Lock()
        async with self.lock:
            return await super().dispatch(start)


@breaks("loop010-unblocked-calls-run-together", collateral={LATE: "a call that has become ready is left waiting"})
class DependentsQueue(OneAtATime):
    """Runs the calls that need results one after another."""

    async def dispatch(self, start: Start) -> Any:
        waits = any(references(start.call.parameters))
        return await (super().dispatch(start) if waits else SolutionLoop.dispatch(self, start))


@breaks(
    "loop010-blocked-calls-wait",
    collateral={
        (
            SCHEDULES,
            "loop010-last-to-complete-wins",
            "loop010-call-order-carries-no-meaning",
            "loop010-no-wake-up-is-lost",
        ): "a call that needs several results is given null"
    },
)
class AnyReferenceUnblocks(CallScheduler):
    """Starts a call when any of its references has a value, with null for the rest."""

    def is_unblocked(self, call: Call) -> bool:
        wanted = list(references(call.parameters))
        return not wanted or any(value_of(one, self.looks(call)) is not MISSING for one in wanted)

    def arguments(self, call: Call) -> Json:
        try:
            return super().arguments(call)
        except Unresolved:
            if not self.is_unblocked(call):
                raise
        look = self.looks(call)
        found: Json = resolve(call.parameters, lambda path: None if look(path) is MISSING else look(path))
        return found

    def looks(self, call: Call) -> Any:
        """Where a call finds its values."""
        return lambda path: self.context.look(path, call.instance)


@breaks(
    "loop010-blocked-calls-wait",
    collateral={"loop010-dependents-of-failures-never-run": "what a failed call would have written is null"},
)
class NestedReferencesBlockNothing(CallScheduler):
    """Waits for references that are a whole parameter, and for no others."""

    def arguments(self, call: Call) -> Json:
        def look(path: Path) -> Any:
            return self.context.look(path, call.instance)

        def look_once(path: Path) -> Any:
            return None if look(path) is MISSING else look(path)

        return {
            name: resolve(value, look if isinstance(value, str) else look_once)
            for name, value in call.parameters.items()
        }


@breaks("loop010-no-batch-barrier", collateral={LATE: "a call that has become ready is left waiting"})
class BatchBarrier(CallScheduler):
    """Starts calls that need results when nothing runs any more."""

    idle = True

    def rescan(self) -> list[Step]:
        self.idle = not self.running
        return super().rescan()

    def unblocked(self) -> Iterable[Call]:
        return (call for call in super().unblocked() if self.idle or not any(references(call.parameters)))


@breaks("loop010-calls-start-once")
class StartedAgainAtTheEnd(CallScheduler):
    """Starts the oldest of three calls that run at the end of the stream once more."""

    def closed(self) -> list[Step]:
        oldest = self.running[: len(self.running) // 3]
        again = [Start(call, self.activity_of(call), self.arguments(call)) for call in oldest]
        return [*again, *super().closed()]


@breaks("loop010-calls-start-once")
class StartedAgainByANewValue(CallScheduler):
    """Starts a running call once more when a path that it refers to is written."""

    def write(self, call: Call, value: Any) -> None:
        super().write(call, value)
        written = self.context.destinations(call)
        for one in self.running:
            if set(written) & set(references(one.parameters)):
                self.pending.append(one)


@breaks(
    "loop010-calls-start-once",
    collateral={"loop010-turns-end-when-drained": "a call runs again when the last one has come"},
    cells=STREAM,
)
class StartedAgainByCalls(CallScheduler):
    """Starts what has completed once more when another call comes."""

    done: tuple[Call, ...] = ()

    def completed(self, call: Call, value: Any) -> list[Step]:
        self.done = (*self.done, call)
        return super().completed(call, value)

    def streamed(self, raw: Any) -> list[Step]:
        self.pending += self.done
        self.done = ()
        return super().streamed(raw)


@breaks(
    "loop010-call-order-carries-no-meaning",
    collateral={
        ("loop010-no-wake-up-is-lost", "loop010-turns-end-when-drained"): "a call behind three that wait never runs"
    },
)
class LooksAtThree(CallScheduler):
    """Looks for unblocked calls among the three oldest."""

    def unblocked(self) -> Iterable[Call]:
        return (call for call in islice(self.pending, 3) if self.is_unblocked(call))


@breaks(
    "loop010-blocked-calls-wait",
    collateral={
        (
            "loop010-call-order-carries-no-meaning",
            "loop010-last-to-complete-wins",
            "loop010-no-wake-up-is-lost",
            "loop010-only-unblocked-calls-are-confirmed",
            "loop010-raising-tools-end-nothing",
            "loop010-schedules-do-not-matter",
            "loop010-turns-end-when-drained",
        ): "calls that should wait are started with null"
    },
)
class OthersResultsUnblock(AnyReferenceUnblocks):
    """Starts a call, with null for what is being written, when another completes."""

    impatient = False

    def completed(self, call: Call, value: Any) -> list[Step]:
        self.impatient = True
        return super().completed(call, value)

    def is_unblocked(self, call: Call) -> bool:
        missing = [one for one in references(call.parameters) if value_of(one, self.looks(call)) is MISSING]
        return not missing or (self.impatient and set(missing) <= being_written(self))


@breaks("loop010-blocked-calls-wait")
class PathsInWritingAreNull(CallScheduler):
    """Gives null for a path that has a value while a running call is to write it."""

    def arguments(self, call: Call) -> Json:
        found = super().arguments(call)
        written = being_written(self)
        given = {name for name, value in call.parameters.items() if written & set(references(value))}
        return {name: None if name in given else value for name, value in found.items()}


@breaks("loop010-calls-start-once")
class EqualCallsMultiply(CallScheduler):
    """Starts a call anew when the model repeats it word for word."""

    seen: tuple[Json, ...] = ()

    def streamed(self, raw: Any) -> list[Step]:
        steps = super().streamed(raw) if raw in self.seen else []
        self.seen = (*self.seen, raw)
        return [*steps, *super().streamed(raw)]
