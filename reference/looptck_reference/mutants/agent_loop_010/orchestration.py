"""Mutants of the 010 loop: which calls run, and when."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import MISSING, Path, Unresolved, references, resolve, value_of
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.tick import Start, Step, Tick
from looptck_reference.mutants.agent_loop_010.mutant import STREAM, SolutionMutant
from looptck_reference.mutants.mutant import because
from looptck_reference.values import Json

LATE = ("loop010-no-wake-up-is-lost", "loop010-both-triggers-rescan")
"""What falls where a call that is ready does not begin."""
SCHEDULES = "loop010-schedules-do-not-matter"


def being_written(tick: Tick) -> set[Path]:
    """The paths that running calls are to write."""
    return {path for one in tick.running for path in tick.context.destinations(one)}


class TenAtATime(SolutionMutant):
    """Runs ten Activities at a time and no more: `loop010-unblocked-calls-run-together`."""

    breaks = ("loop010-unblocked-calls-run-together",)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        places: asyncio.Semaphore | None = None

        async def dispatch(self, start: Start) -> Any:
            self.places = self.places or asyncio.Semaphore(10)
            async with self.places:
                return await super().dispatch(start)


class OneToolOneCall(SolutionMutant):
    """Runs the calls of one tool one after another: `loop010-unblocked-calls-run-together`."""

    breaks = ("loop010-unblocked-calls-run-together",)

    class loop(AgentLoop):  # noqa: N801
        locks: defaultdict[str, asyncio.Lock] | None = None

        async def dispatch(self, start: Start) -> Any:
            self.locks = self.locks or defaultdict(asyncio.Lock)
            async with self.locks[start.activity]:
                return await super().dispatch(start)


class OneAtATime(SolutionMutant):
    """Runs one Activity at a time: `loop010-unblocked-calls-run-together`."""

    breaks = ("loop010-unblocked-calls-run-together",)
    also = because("a call that has become ready is left waiting", "loop010-no-batch-barrier", *LATE)

    class loop(AgentLoop):  # noqa: N801
        lock: asyncio.Lock | None = None

        async def dispatch(self, start: Start) -> Any:
            self.lock = self.lock or asyncio.Lock()
            async with self.lock:
                return await super().dispatch(start)


class DependentsQueue(SolutionMutant):
    """Runs the calls that need results one after another: `loop010-unblocked-calls-run-together`."""

    breaks = ("loop010-unblocked-calls-run-together",)
    also = because("a call that has become ready is left waiting", *LATE)

    class loop(OneAtATime.loop):  # noqa: N801
        async def dispatch(self, start: Start) -> Any:
            waits = any(references(start.call.parameters))
            return await (super().dispatch(start) if waits else AgentLoop.dispatch(self, start))


class AnyReferenceUnblocks(SolutionMutant):
    """Starts a call when any of its references has a value, with null for the rest: `loop010-blocked-calls-wait`."""

    breaks = ("loop010-blocked-calls-wait",)
    also = because(
        "a call that needs several results is given null",
        SCHEDULES,
        "loop010-last-to-complete-wins",
        "loop010-call-order-carries-no-meaning",
        "loop010-no-wake-up-is-lost",
    )

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
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


class NestedReferencesBlockNothing(SolutionMutant):
    """Waits for references that are a whole parameter, and for no others: `loop010-blocked-calls-wait`."""

    breaks = ("loop010-blocked-calls-wait",)
    also = because("what a failed call would have written is null", "loop010-dependents-of-failures-never-run")

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def arguments(self, call: Call) -> Json:
                def look(path: Path) -> Any:
                    return self.context.look(path, call.instance)

                def look_once(path: Path) -> Any:
                    return None if look(path) is MISSING else look(path)

                return {
                    name: resolve(value, look if isinstance(value, str) else look_once)
                    for name, value in call.parameters.items()
                }


class BatchBarrier(SolutionMutant):
    """Starts calls that need results when nothing runs any more: `loop010-no-batch-barrier`."""

    breaks = ("loop010-no-batch-barrier",)
    also = because("a call that has become ready is left waiting", *LATE)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            idle = True

            def rescan(self) -> list[Step]:
                self.idle = not self.running
                return super().rescan()

            def unblocked(self) -> Iterable[Call]:
                return (call for call in super().unblocked() if self.idle or not any(references(call.parameters)))


class StartedAgainAtTheEnd(SolutionMutant):
    """Starts the oldest of three calls that run at the end of the stream once more: `loop010-calls-start-once`."""

    breaks = ("loop010-calls-start-once",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def closed(self) -> list[Step]:
                oldest = self.running[: len(self.running) // 3]
                again = [Start(call, self.activity_of(call), self.arguments(call)) for call in oldest]
                return [*again, *super().closed()]


class StartedAgainByANewValue(SolutionMutant):
    """Starts a running call once more when a path that it refers to is written: `loop010-calls-start-once`."""

    breaks = ("loop010-calls-start-once",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def write(self, call: Call, value: Any) -> None:
                super().write(call, value)
                written = self.context.destinations(call)
                for one in self.running:
                    if set(written) & set(references(one.parameters)):
                        self.pending.append(one)


class StartedAgainByCalls(SolutionMutant):
    """Starts what has completed once more when another call comes: `loop010-calls-start-once`."""

    breaks = ("loop010-calls-start-once",)
    also = because("a call runs again when the last one has come", "loop010-turns-end-when-drained")
    cells = STREAM

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            done: tuple[Call, ...] = ()

            def completed(self, call: Call, value: Any) -> list[Step]:
                self.done = (*self.done, call)
                return super().completed(call, value)

            def streamed(self, raw: Any) -> list[Step]:
                self.pending += self.done
                self.done = ()
                return super().streamed(raw)


class LooksAtThree(SolutionMutant):
    """Looks for unblocked calls among the three oldest: `loop010-call-order-carries-no-meaning`."""

    breaks = ("loop010-call-order-carries-no-meaning",)
    also = because(
        "a call behind three that wait never runs", "loop010-no-wake-up-is-lost", "loop010-turns-end-when-drained"
    )

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def unblocked(self) -> Iterable[Call]:
                return (call for call in islice(self.pending, 3) if self.is_unblocked(call))


class OthersResultsUnblock(SolutionMutant):
    """Starts a call, with null for what is being written, when another completes: `loop010-blocked-calls-wait`."""

    breaks = ("loop010-blocked-calls-wait",)
    also = because(
        "calls that should wait are started with null",
        "loop010-call-order-carries-no-meaning",
        "loop010-last-to-complete-wins",
        "loop010-no-wake-up-is-lost",
        "loop010-only-unblocked-calls-are-confirmed",
        "loop010-raising-tools-end-nothing",
        "loop010-schedules-do-not-matter",
        "loop010-turns-end-when-drained",
    )

    class loop(AgentLoop):  # noqa: N801
        class tick(AnyReferenceUnblocks.loop.tick):  # noqa: N801
            impatient = False

            def completed(self, call: Call, value: Any) -> list[Step]:
                self.impatient = True
                return super().completed(call, value)

            def is_unblocked(self, call: Call) -> bool:
                missing = [one for one in references(call.parameters) if value_of(one, self.looks(call)) is MISSING]
                return not missing or (self.impatient and set(missing) <= being_written(self))


class PathsInWritingAreNull(SolutionMutant):
    """Gives null for a path that has a value while a running call is to write it: `loop010-blocked-calls-wait`."""

    breaks = ("loop010-blocked-calls-wait",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def arguments(self, call: Call) -> Json:
                found = super().arguments(call)
                written = being_written(self)
                given = {name for name, value in call.parameters.items() if written & set(references(value))}
                return {name: None if name in given else value for name, value in found.items()}


class EqualCallsMultiply(SolutionMutant):
    """Starts a call anew when the model repeats it word for word: `loop010-calls-start-once`."""

    breaks = ("loop010-calls-start-once",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            seen: tuple[Json, ...] = ()

            def streamed(self, raw: Any) -> list[Step]:
                steps = super().streamed(raw) if raw in self.seen else []
                self.seen = (*self.seen, raw)
                return [*steps, *super().streamed(raw)]
