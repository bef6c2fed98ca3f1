"""Mutants of the 010 loop: faults that only some schedules show.

None of them shows in the small graphs that a person thinks of: each needs many calls, or a rare order of events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import MISSING, Found, Path, references, resolve, value_of
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step
from looptck_reference.agent_loop_010.solution import Reader
from looptck_reference.vocabulary.values import Json


@breaks("loop010-no-wake-up-is-lost")
class ThreeStartAtATime(CallScheduler):
    """Starts only three of the calls that a result unblocks, and the others at the next result."""

    most = 3

    def rescan(self) -> list[Step]:
        """Allow three more calls than are running now."""
        self.most = len(self.running) + 3
        return super().rescan()

    def unblocked(self) -> Iterable[Call]:
        """No call once the allowed number runs."""
        return super().unblocked() if len(self.running) < self.most else ()


@breaks(
    "loop010-no-wake-up-is-lost",
    collateral={"loop010-schedules-do-not-matter": "the call gets the unresolved reference itself"},
)
class TwoOfThreeAreEnough(CallScheduler):
    """Starts a call once all but one of its three references have a value."""

    def arguments(self, call: Call) -> Json:
        """The parameters; the missing reference stays as it was written."""
        found = [value_of(one, self.context.look) for one in references(call.parameters)]
        if len(found) < 3 or found.count(MISSING) != 1:
            return super().arguments(call)
        resolved: Json = resolve(call.parameters, self.look)
        return resolved

    def look(self, path: Path) -> Found:
        """The value at the path, or the path's text if there is none."""
        value = self.context.look(path)
        return str(path) if value is MISSING else value


@breaks("loop010-schedules-do-not-matter", cells=STREAM)
class LoneSeparatorsAreLost(Reader):
    """Drops a piece of the stream that consists of a U+2028 only."""

    def feed(self, piece: str) -> list[Any]:
        """Read the piece unless it counts as an empty line."""
        return super().feed(piece) if piece.splitlines() != [""] else []


class CountingTick(CallScheduler):
    """Counts how often each path was read."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.read: list[str] = []

    def launch(self, call: Call) -> Step | None:
        """Count the paths that the call refers to."""
        self.read += map(str, references(call.parameters))
        return super().launch(call)


@breaks("loop010-schedules-do-not-matter")
class UsedResultsAreForgotten(SolutionLoop):
    """Discards a result at the end of a turn if three calls of the turn have read it."""

    tick = CountingTick

    def append_errors(self, tick: CallScheduler) -> None:
        """Discard results at the end of a turn."""
        super().append_errors(tick)
        assert isinstance(tick, CountingTick)
        used = [path for path in tick.read if tick.read.count(path) > 2]
        self._context.messages = [
            one for one in self._context.messages if one.get("_call", {}).get("_outputPath") not in used
        ]


@breaks("loop010-last-to-complete-wins")
class FirstLooksAreRemembered(CallScheduler):
    """Resolves the references of a call with two references to the first value seen at each path."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.seen: list[tuple[Call, Path, Found]] = []

    def arguments(self, call: Call) -> Json:
        """The parameters, with earlier seen values instead of the current ones."""
        resolved: Json = resolve(call.parameters, lambda path: self.look(call, path))
        return resolved

    def look(self, call: Call, path: Path) -> Found:
        """The first value found at the path."""
        for one, where, value in self.seen:
            if one is call and where == path:
                return value
        value = self.context.look(path, call.instance)
        if value is not MISSING:
            self.seen.append((call, path, value))
        return value
