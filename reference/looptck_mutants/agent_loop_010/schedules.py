"""Mutants of the 010 loop: faults that only some schedules show.

Each stands the small graphs that a person thinks of: it takes many calls, or one order of events among many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import MISSING, Found, Path, references, resolve, value_of
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step, without
from looptck_reference.agent_loop_010.solution import Reader
from looptck_reference.loop.values import Json


@breaks("loop010-no-wake-up-is-lost")
class OnlyTheOldestAreLookedAt(CallScheduler):
    """Looks at the three calls that have been pending longest."""

    def unblocked(self) -> Iterable[Call]:
        """Those of the first three, while others run."""
        return (call for call in self.pending[: 3 if self.running else None] if self.is_unblocked(call))


@breaks("loop010-no-wake-up-is-lost")
class VainLooksAreSpared(CallScheduler):
    """Looks no more at completions once three have unblocked nothing."""

    vain = 0

    def completed(self, call: Call, value: Any) -> list[Step]:
        """Look only if it was worth it lately, or if nothing runs that would be another reason to look."""
        if self.vain >= 3 and len(self.running) > 1:
            self.running = without(self.running, call)
            self.write(call, value)
            return []
        steps = super().completed(call, value)
        self.vain += not steps
        return steps


@breaks("loop010-no-wake-up-is-lost")
class ThreeStartAtATime(CallScheduler):
    """Starts three of the calls that a result unblocks, and the others at the next."""

    most = 3

    def rescan(self) -> list[Step]:
        """Three more than run already may run then."""
        self.most = len(self.running) + 3
        return super().rescan()

    def unblocked(self) -> Iterable[Call]:
        """None any more once so many run."""
        return super().unblocked() if len(self.running) < self.most else ()


@breaks(
    "loop010-no-wake-up-is-lost",
    collateral={"loop010-schedules-do-not-matter": "it is given the reference that has none"},
)
class TwoOfThreeAreEnough(CallScheduler):
    """Starts a call when all but one of its three references have a value."""

    def arguments(self, call: Call) -> Json:
        """With the one that lacks as it was written."""
        found = [value_of(one, self.context.look) for one in references(call.parameters)]
        if len(found) < 3 or found.count(MISSING) != 1:
            return super().arguments(call)
        resolved: Json = resolve(call.parameters, self.look)
        return resolved

    def look(self, path: Path) -> Found:
        """The value or, for want of one, its name."""
        value = self.context.look(path)
        return str(path) if value is MISSING else value


@breaks("loop010-schedules-do-not-matter", cells=STREAM)
class LoneSeparatorsAreLost(Reader):
    """Takes a piece of the stream that is a U+2028 for an empty line."""

    def feed(self, piece: str) -> list[Any]:
        """What a line holds, and nothing of lines that hold nothing."""
        return super().feed(piece) if piece.splitlines() != [""] else []


class CountingTick(CallScheduler):
    """Keeps what calls have read."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.read: list[str] = []

    def launch(self, call: Call) -> Step | None:
        """It reads all that it refers to."""
        self.read += map(str, references(call.parameters))
        return super().launch(call)


@breaks("loop010-schedules-do-not-matter")
class UsedResultsAreForgotten(SolutionLoop):
    """Forgets behind a turn what three calls of it have read."""

    tick = CountingTick

    def append_errors(self, tick: CallScheduler) -> None:
        """A turn is over: make room."""
        super().append_errors(tick)
        assert isinstance(tick, CountingTick)
        used = [path for path in tick.read if tick.read.count(path) > 2]
        self._context.messages = [
            one for one in self._context.messages if one.get("_call", {}).get("_outputPath") not in used
        ]


@breaks("loop010-last-to-complete-wins")
class FirstLooksAreRemembered(CallScheduler):
    """Gives a call that waits for two values what each was when it was first seen."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.seen: list[tuple[Call, Path, Found]] = []

    def arguments(self, call: Call) -> Json:
        """With values of earlier looks in front of those that stand there now."""
        resolved: Json = resolve(call.parameters, lambda path: self.look(call, path))
        return resolved

    def look(self, call: Call, path: Path) -> Found:
        """What was found there first."""
        for one, where, value in self.seen:
            if one is call and where == path:
                return value
        value = self.context.look(path, call.instance)
        if value is not MISSING:
            self.seen.append((call, path, value))
        return value
