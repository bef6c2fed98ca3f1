"""Mutants of the 010 loop: when calls start while a Request streams."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from looptck_mutants.agent_loop_010.outputs import parsed
from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step, without
from looptck_reference.agent_loop_010.solution import Reader, Solution, Unreadable
from looptck_reference.loop.values import Json


@breaks(
    "loop010-calls-start-while-streaming",
    collateral={("loop010-both-triggers-rescan", "loop010-no-wake-up-is-lost"): "nothing starts in a stream"},
    cells=STREAM,
)
class WaitsForTheEnd(CallScheduler):
    """Starts nothing before the stream is at its end."""

    def unblocked(self) -> Iterable[Call]:
        return super().unblocked() if self.stream_closed else ()


@breaks(
    "loop010-calls-start-while-streaming",
    collateral={"loop010-no-wake-up-is-lost": "what starts with the last letter starts late"},
    cells=STREAM,
)
class WaitsForTheDocument(Reader):
    """Gives no call before the Solution is whole."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def feed(self, piece: str) -> list[Any]:
        self.kept += super().feed(piece)
        if parsed(self.text) is None:
            return []
        given, self.kept = self.kept, []
        return given


@breaks(
    "loop010-both-triggers-rescan",
    collateral={"loop010-no-wake-up-is-lost": "a look that is missed is a wake-up that is lost"},
    cells=STREAM,
)
class CompletionsAreNotHeard(CallScheduler):
    """Looks at what is blocked when a call comes, but not when one completes.

    Once the stream is closed it looks again, or else it would wait for ever.
    """

    def completed(self, call: Call, value: Any) -> list[Step]:
        if self.stream_closed:
            return super().completed(call, value)
        self.running = without(self.running, call)
        self.write(call, value)
        return []


@breaks(
    "loop010-both-triggers-rescan",
    collateral={"loop010-no-wake-up-is-lost": "a look that is missed is a wake-up that is lost"},
    cells=STREAM,
)
class NewCallsAreNotSeen(CallScheduler):
    """Looks at no new call while another runs, until that completes."""

    def streamed(self, raw: Any) -> list[Step]:
        if not self.running:
            return super().streamed(raw)
        self.take(raw)
        return []


class _EarlyReader(Reader):
    """Gives a call of which only a part is there, and does not give it again when it is whole."""

    tail = ""
    """What would make a whole Solution of the part."""
    last = ""
    """The key that the part has to end with."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0
        self.early = False

    def feed(self, piece: str) -> list[Any]:
        calls = super().feed(piece)
        if self.early and calls:
            calls, self.early = calls[1:], False
        self.given += len(calls)
        part: list[Json] = (parsed(self.text + self.tail) or {}).get("calls", []) if len(piece) == 1 else []
        if not self.early and len(part) > self.given and [*part[-1]][-1:] == [self.last]:
            self.early = True
            self.given += 1
            calls.append(part[-1])
        return calls


@breaks("loop010-partial-calls-never-start", cells=STREAM)
class PartsOfTextsAreTaken(_EarlyReader):
    """Starts a call in the middle of its last parameter."""

    tail = '"}]}'
    last = "other"


@breaks("loop010-partial-calls-never-start", cells=STREAM)
class PathsAreNotWaitedFor(_EarlyReader):
    """Starts a call once its parameters are there, whatever follows."""

    tail = "}]}"
    last = "other"


@breaks("loop010-partial-calls-never-start", cells=STREAM)
class BracesAreNotWaitedFor(_EarlyReader):
    """Starts a call that lacks nothing but its last brace."""

    tail = "}]}"
    last = "_outputPath"


@breaks("loop010-turns-end-when-drained", cells=STREAM)
class IdleStreamsEndTurns(SolutionLoop):
    """Ends a turn when five calls have completed and none is left."""

    class Idling(CallScheduler):
        done = 0

        def completed(self, call: Call, value: Any) -> list[Step]:
            self.done += 1
            return super().completed(call, value)

        @property
        def drained(self) -> bool:
            return super().drained or (self.done >= 5 and not (self.pending or self.asked or self.running))

    tick = Idling

    async def turn(self, tick: CallScheduler) -> Solution | Unreadable:
        try:
            return await super().turn(tick)
        except asyncio.CancelledError:
            if tick.stream_closed:
                raise
            return Solution({"calls": [], "output": None})


@breaks("loop010-turns-end-when-drained", collateral={"loop010-no-wake-up-is-lost": "what is dropped never wakes up"})
class LongChainsAreCut(CallScheduler):
    """Drops what is pending when three calls have completed behind the stream."""

    late = 0

    def completed(self, call: Call, value: Any) -> list[Step]:
        self.late += self.stream_closed
        steps = super().completed(call, value)
        if self.late == 3:
            self.pending = []
        return steps


@breaks("loop010-late-results-are-kept")
class LateResultsAreForgotten(CallScheduler):
    """Keeps sixteen of the results that come behind the stream."""

    late = 0

    def write(self, call: Call, value: Any) -> None:
        self.late += self.stream_closed
        if self.late <= 16 or self.pending:
            super().write(call, value)
