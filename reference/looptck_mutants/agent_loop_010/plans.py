"""Mutants of the 010 loop: plans."""

from __future__ import annotations

from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.agent_loop_010.solution import Solution, Unreadable


@breaks("loop010-plans-hold-the-last-calls")
class PlansLoseOwnKeys(SolutionLoop):
    """Keeps only the tool and the parameters of the calls in a plan."""

    def carry_plan(self, solution: Solution) -> None:
        bare = [
            {name: call[name] for name in call if name == "_tool" or not name.startswith("_")}
            for call in solution.calls
        ]
        super().carry_plan(Solution({"calls": bare}))


@breaks("loop010-plans-hold-the-last-calls")
class PlansOfWhatCompleted(SolutionLoop):
    """Keeps only the calls in a plan that have a result."""

    def carry_plan(self, solution: Solution) -> None:
        completed = [message["_call"] for message in self._context.messages if "_call" in message]
        super().carry_plan(Solution({"calls": [call for call in solution.calls if call in completed]}))


@breaks("loop010-lazy-plans-run-nothing")
class LazyPlansRun(SolutionLoop):
    """Runs the calls of a lazy plan before returning the Solution."""

    async def turn(self, tick: CallScheduler) -> Solution | Unreadable:
        lazy, self.lazy = self.lazy, False
        solution = await super().turn(tick)
        self.lazy = lazy
        return solution


@breaks("loop010-lazy-plans-run-nothing")
class LazyPlansGoOn(SolutionLoop):
    """Runs no call of a lazy plan, but sends another Request."""

    async def turn(self, tick: CallScheduler) -> Solution | Unreadable:
        solution = await super().turn(tick)
        self.lazy = False
        return solution


@breaks("loop010-lazy-plans-run-nothing")
class LazyPlansReturnTheOutput(SolutionLoop):
    """Returns only the output of a lazy Solution."""

    async def run(self) -> Any | None:
        value = await super().run()
        return value.get("output") if self.lazy and isinstance(value, dict) else value
