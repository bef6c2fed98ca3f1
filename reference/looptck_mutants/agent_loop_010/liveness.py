"""Mutants of the 010 loop: calls that never become unblocked, and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from looptck_mutants.agent_loop_010.errors import ToolFailed
from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import references
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step
from looptck_reference.agent_loop_010.solution import Solution

PLAIN = ("openai-chat/plain/async",)


def reads(call: Call) -> set[str]:
    """The paths that a call refers to."""
    return {str(expression) for expression in references(call.parameters)}


def circular(calls: Sequence[Call]) -> Sequence[Call]:
    """The blocked calls that wait only for each other."""
    written = {call.output_path for call in calls}
    left = [call for call in calls if reads(call) <= written]
    return left if len(left) == len(calls) else circular(left)


@breaks("loop010-unresolvable-references-become-errors", cells=PLAIN)
class WaitsForNobody(CallScheduler):
    """Waits forever for a missing input."""

    def end_blocked(self) -> None:
        if not any("†input.nothing" in reads(call) for call in self.pending):
            super().end_blocked()


@breaks("loop010-unresolvable-references-become-errors")
class BlockedCallsAreToldTwice(CallScheduler):
    """Appends two Error Messages for a call that could never start."""

    def end_blocked(self) -> None:
        for call in self.pending:
            self.fail(call.raw, self.why_blocked(call))
        super().end_blocked()


@breaks("loop010-unresolvable-references-become-errors")
class BlockedCallsStayPending(CallScheduler):
    """Reports calls that can never start, and starts them as soon as a later turn has written their values."""

    left: ClassVar[dict[int, list[Call]]] = {}

    def __init__(self, context: Context, *what: Any, **more: Any) -> None:
        super().__init__(context, *what, **more)
        self.pending = self.left.pop(id(context), [])

    def end_blocked(self) -> None:
        self.left[id(self.context)] = self.pending
        super().end_blocked()


@breaks("loop010-cycles-become-errors", cells=PLAIN)
class CyclesHang(CallScheduler):
    """Waits forever for calls that wait for each other."""

    def end_blocked(self) -> None:
        if len(circular(self.pending)) != 1:
            super().end_blocked()


@breaks("loop010-cycles-become-errors")
class CyclesAreCut(CallScheduler):
    """Starts calls that wait for each other, with null for the missing values."""

    cut = False

    def rescan(self) -> list[Step]:
        steps = super().rescan()
        if self.cut:
            self.cut = False
            steps += super().rescan()
        return steps

    def end_blocked(self) -> None:
        for call in circular(self.pending):
            self.write(call, None)
            self.cut = True
        if not self.cut:
            super().end_blocked()


@breaks("loop010-cycles-become-errors")
class CyclesEndTheRun(CallScheduler):
    """Raises an error to the caller if calls wait for each other."""

    def end_blocked(self) -> None:
        if circular(self.pending):
            raise ToolFailed("calls wait for each other")
        super().end_blocked()


@breaks("loop010-dependents-of-failures-never-run")
class FailuresWriteNull(CallScheduler):
    """Writes null to the output path of a failed call."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        self.write(call, None)
        return super().failed(call, error)


@breaks("loop010-dependents-of-failures-never-run")
class FaultyCallsWriteTheirFault(CallScheduler):
    """Writes the error of an invalid call to its output path."""

    def take(self, raw: Any, *, agreed: bool = False) -> None:
        before = len(self.errors)
        super().take(raw, agreed=agreed)
        if len(self.errors) > before:
            self.write(Call.read(raw), "it is wrong")


@breaks("loop010-turns-are-limited")
class OneTooMany(SolutionLoop):
    """Sends one Request more than the limit allows."""

    def limit_reached(self) -> bool:
        return self.turns > self.limit


@breaks("loop010-turns-are-limited")
class LastTurnIsNotRead(SolutionLoop):
    """Ignores the output of the last turn that the limit allows."""

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) and self.turns < self.limit
