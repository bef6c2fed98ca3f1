"""Mutants of the 010 loop: what never resolves, and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import references
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.solution import Solution
from looptck_reference.agent_loop_010.tick import Step, Tick
from looptck_reference.mutants.agent_loop_010.errors import ToolFailed
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant

PLAIN = ("openai-chat/plain/async",)


def reads(call: Call) -> set[str]:
    """What a call refers to."""
    return {str(expression) for expression in references(call.parameters)}


def circular(calls: Sequence[Call]) -> Sequence[Call]:
    """Those of the blocked calls that wait for each other, and what waits for nobody else."""
    written = {call.output_path for call in calls}
    left = [call for call in calls if reads(call) <= written]
    return left if len(left) == len(calls) else circular(left)


class WaitsForNobody(SolutionMutant):
    """Waits for ever for the input that is not there: `loop010-unresolvable-references-become-errors`."""

    breaks = ("loop010-unresolvable-references-become-errors",)
    cells = PLAIN

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        class tick(Tick):  # noqa: N801
            def end_blocked(self) -> None:
                if not any("†input.nothing" in reads(call) for call in self.pending):
                    super().end_blocked()


class BlockedCallsAreDropped(SolutionMutant):
    """Says nothing of calls that could never start: `loop010-unresolvable-references-become-errors`."""

    breaks = ("loop010-unresolvable-references-become-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def end_blocked(self) -> None:
                self.pending = []


class LateBlockedCallsAreDropped(SolutionMutant):
    """Tells of calls that are blocked as the stream ends only: `loop010-unresolvable-references-become-errors`.

    Where another call runs by then, nobody looks at them again.
    """

    breaks = ("loop010-unresolvable-references-become-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            closing = False

            def closed(self) -> list[Step]:
                self.closing = True
                steps = super().closed()
                self.closing = False
                return steps

            def end_blocked(self) -> None:
                if self.closing:
                    super().end_blocked()
                self.pending = []


class BlockedCallsAreToldTwice(SolutionMutant):
    """Tells of a call that could never start twice: `loop010-unresolvable-references-become-errors`."""

    breaks = ("loop010-unresolvable-references-become-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def end_blocked(self) -> None:
                for call in self.pending:
                    self.fail(call.raw, self.why_blocked(call))
                super().end_blocked()


class CyclesHang(SolutionMutant):
    """Waits for ever for a call that waits for itself: `loop010-cycles-become-errors`."""

    breaks = ("loop010-cycles-become-errors",)
    cells = PLAIN

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def end_blocked(self) -> None:
                if len(circular(self.pending)) != 1:
                    super().end_blocked()


class CyclesAreCut(SolutionMutant):
    """Starts calls that wait for each other with null for what is missing: `loop010-cycles-become-errors`."""

    breaks = ("loop010-cycles-become-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
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


class CyclesEndTheRun(SolutionMutant):
    """Hands calls that wait for each other to the caller: `loop010-cycles-become-errors`."""

    breaks = ("loop010-cycles-become-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def end_blocked(self) -> None:
                if circular(self.pending):
                    raise ToolFailed("calls wait for each other")
                super().end_blocked()


class FailuresWriteNull(SolutionMutant):
    """Writes null where a call that failed was to write: `loop010-dependents-of-failures-never-run`."""

    breaks = ("loop010-dependents-of-failures-never-run",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def failed(self, call: Call, error: Any) -> list[Step]:
                self.write(call, None)
                return super().failed(call, error)


class FaultyCallsWriteTheirFault(SolutionMutant):
    """Writes what is wrong with a call in place of its result: `loop010-dependents-of-failures-never-run`."""

    breaks = ("loop010-dependents-of-failures-never-run",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def take(self, raw: Any, *, agreed: bool = False) -> None:
                before = len(self.errors)
                super().take(raw, agreed=agreed)
                if len(self.errors) > before:
                    self.write(Call.read(raw), "it is wrong")


class NoLimit(SolutionMutant):
    """Asks for as long as there is no output: `loop010-turns-are-limited`."""

    breaks = ("loop010-turns-are-limited",)

    class loop(AgentLoop):  # noqa: N801
        def limit_reached(self) -> bool:
            return False


class OneTooMany(SolutionMutant):
    """Makes one Request more than its limit allows: `loop010-turns-are-limited`."""

    breaks = ("loop010-turns-are-limited",)

    class loop(AgentLoop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.turns > self.limit


class OneTooFew(SolutionMutant):
    """Makes one Request less than its limit allows: `loop010-turns-are-limited`."""

    breaks = ("loop010-turns-are-limited",)

    class loop(AgentLoop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.turns >= max(1, self.limit - 1)


class LastTurnIsNotRead(SolutionMutant):
    """Returns nothing of the last turn that its limit allows: `loop010-turns-are-limited`."""

    breaks = ("loop010-turns-are-limited",)

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return super().is_final(solution) and self.turns < self.limit
