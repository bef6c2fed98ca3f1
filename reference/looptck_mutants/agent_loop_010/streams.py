"""Mutants of the 010 loop: the start of calls while a Request streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from looptck_mutants.agent_loop_010.outputs import parsed
from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step, without
from looptck_reference.agent_loop_010.solution import Reader, Solution, Unreadable
from looptck_reference.vocabulary.values import Json


@breaks(
    "loop010-calls-start-while-streaming",
    collateral={("loop010-both-triggers-rescan", "loop010-no-wake-up-is-lost"): "nothing starts during a stream"},
    cells=STREAM,
)
class WaitsForTheEnd(CallScheduler):
    """Starts no call before the end of the stream."""

    def unblocked(self) -> Iterable[Call]:
        return super().unblocked() if self.stream_closed else ()


@breaks(
    "loop010-both-triggers-rescan",
    collateral={"loop010-no-wake-up-is-lost": "a missed check is a lost wake-up"},
    cells=STREAM,
)
class CompletionsAreNotHeard(CallScheduler):
    """Checks blocked calls when a call is streamed, but not when one completes.

    After the end of the stream it checks again; otherwise it would wait forever.
    """

    def completed(self, call: Call, value: Any) -> list[Step]:
        if self.stream_closed:
            return super().completed(call, value)
        self.running = without(self.running, call)
        self.write(call, value)
        return []


@breaks(
    "loop010-both-triggers-rescan",
    collateral={"loop010-no-wake-up-is-lost": "a missed check is a lost wake-up"},
    cells=STREAM,
)
class NewCallsAreNotSeen(CallScheduler):
    """Checks a newly streamed call only after the running calls have completed."""

    def streamed(self, raw: Any) -> list[Step]:
        if not self.running:
            return super().streamed(raw)
        self.take(raw)
        return []


@breaks("loop010-both-triggers-rescan", cells=STREAM)
class BracesInTextsAreCounted(Reader):
    """Does not find a call in the stream if the braces in it do not match, because a text has one."""

    def feed(self, piece: str) -> list[Any]:
        return [call for call in super().feed(piece) if json.dumps(call).count("{") == json.dumps(call).count("}")]


class _EarlyReader(Reader):
    """Returns a call that is only partly streamed, and does not return it again when it is complete."""

    tail = ""
    """The text that completes the part to a Solution."""
    last = ""
    """The key that the part must end with."""

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
    """Starts a call once its parameters have been streamed, before the rest of its keys."""

    tail = "}]}"
    last = "other"


@breaks("loop010-partial-calls-never-start", cells=STREAM)
class BracesAreNotWaitedFor(_EarlyReader):
    """Starts a call before its closing brace has been streamed."""

    tail = "}]}"
    last = "_outputPath"


@breaks("loop010-turns-end-when-drained", cells=STREAM)
class IdleStreamsEndTurns(SolutionLoop):
    """Ends a turn after five completed calls if no call is left, although the stream is open."""

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


@breaks("loop010-turns-end-when-drained", collateral={"loop010-no-wake-up-is-lost": "a dropped call never wakes up"})
class LongChainsAreCut(CallScheduler):
    """Drops pending calls after three completions following the end of the stream."""

    late = 0

    def completed(self, call: Call, value: Any) -> list[Step]:
        self.late += self.stream_closed
        steps = super().completed(call, value)
        if self.late == 3:
            self.pending = []
        return steps


@breaks("loop010-late-results-are-kept")
class LateResultsAreForgotten(CallScheduler):
    """Stores only sixteen of the results that arrive after the end of the stream."""

    late = 0

    def write(self, call: Call, value: Any) -> None:
        self.late += self.stream_closed
        if self.late <= 16 or self.pending:
            super().write(call, value)
