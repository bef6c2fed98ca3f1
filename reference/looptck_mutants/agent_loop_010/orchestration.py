"""Mutants of the 010 loop: the selection of calls to run, and their order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice
from typing import Any

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import MISSING, Path, Unresolved, references, resolve, value_of
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Start, Step
from looptck_reference.vocabulary.values import Json

LATE = ("loop010-no-wake-up-is-lost", "loop010-both-triggers-rescan")
"""The requirements that also fail if an unblocked call does not start."""
SCHEDULES = "loop010-schedules-do-not-matter"


def being_written(tick: CallScheduler) -> set[Path]:
    """The output paths of the running calls."""
    return {path for one in tick.running for path in tick.context.destinations(one)}


@breaks(
    "loop010-unblocked-calls-run-together",
    collateral={("loop010-no-batch-barrier", *LATE): "an unblocked call is left waiting"},
)
class OneAtATime(SolutionLoop):
    """Runs one Activity at a time."""

    lock: asyncio.Lock | None = None

    async def dispatch(self, start: Start) -> Any:
        self.lock = self.lock or asyncio.Lock()
        async with self.lock:
            return await super().dispatch(start)


@breaks(
    "loop010-blocked-calls-wait",
    collateral={
        (
            SCHEDULES,
            "loop010-last-to-complete-wins",
            "loop010-call-order-carries-no-meaning",
            "loop010-no-wake-up-is-lost",
        ): "a call that needs several results gets null"
    },
)
class AnyReferenceUnblocks(CallScheduler):
    """Starts a call once any of its references has a value, with null for the others."""

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
        """The lookup function for the values of a call."""
        return lambda path: self.context.look(path, call.instance)


@breaks("loop010-no-batch-barrier", collateral={LATE: "an unblocked call is left waiting"})
class BatchBarrier(CallScheduler):
    """Starts calls that depend on results only while nothing runs."""

    idle = True

    def rescan(self) -> list[Step]:
        self.idle = not self.running
        return super().rescan()

    def unblocked(self) -> Iterable[Call]:
        return (call for call in super().unblocked() if self.idle or not any(references(call.parameters)))


@breaks("loop010-calls-start-once")
class StartedAgainAtTheEnd(CallScheduler):
    """Starts the oldest of three running calls again when the stream ends."""

    def closed(self) -> list[Step]:
        oldest = self.running[: len(self.running) // 3]
        again = [Start(call, self.activity_of(call), self.arguments(call)) for call in oldest]
        return [*again, *super().closed()]


@breaks("loop010-calls-start-once", cells=STREAM)
class StartedAgainByCalls(CallScheduler):
    """Starts a completed call again when another call is streamed."""

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
        ("loop010-no-wake-up-is-lost", "loop010-turns-end-when-drained"): "a call after three waiting ones never runs"
    },
)
class LooksAtThree(CallScheduler):
    """Checks only the three oldest pending calls for being unblocked."""

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
        ): "calls that should wait are started with null"
    },
)
class OthersResultsUnblock(AnyReferenceUnblocks):
    """Starts a blocked call when any call completes, with null for values still being computed."""

    impatient = False

    def completed(self, call: Call, value: Any) -> list[Step]:
        self.impatient = True
        return super().completed(call, value)

    def is_unblocked(self, call: Call) -> bool:
        missing = [one for one in references(call.parameters) if value_of(one, self.looks(call)) is MISSING]
        return not missing or (self.impatient and set(missing) <= being_written(self))


@breaks("loop010-blocked-calls-wait")
class PathsInWritingAreNull(CallScheduler):
    """Resolves a path to null while a running call has it as its output path, although it has a value."""

    def arguments(self, call: Call) -> Json:
        found = super().arguments(call)
        written = being_written(self)
        given = {name for name, value in call.parameters.items() if written & set(references(value))}
        return {name: None if name in given else value for name, value in found.items()}


@breaks("loop010-calls-start-once")
class EqualCallsMultiply(CallScheduler):
    """Starts a call again if the model repeats it word for word."""

    seen: tuple[Json, ...] = ()

    def streamed(self, raw: Any) -> list[Step]:
        steps = super().streamed(raw) if raw in self.seen else []
        self.seen = (*self.seen, raw)
        return [*steps, *super().streamed(raw)]
