"""Mutants of the 010 loop: plans."""

from __future__ import annotations

from typing import Any

from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.solution import Solution, Unreadable
from looptck_reference.agent_loop_010.tick import Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant


class PlansStay(SolutionMutant):
    """Tells in every Request the plan that the run began with: `loop010-plans-hold-the-last-calls`."""

    breaks = ("loop010-plans-hold-the-last-calls",)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        def carry_plan(self, solution: Solution) -> None:
            """The plan is as it was."""


class PlansGrow(SolutionMutant):
    """Adds the calls of each turn to the plan: `loop010-plans-hold-the-last-calls`."""

    breaks = ("loop010-plans-hold-the-last-calls",)

    class loop(AgentLoop):  # noqa: N801
        def carry_plan(self, solution: Solution) -> None:
            place = self._plan()
            if place is not None:
                before = self._context.messages[place]["plan"]
                super().carry_plan(Solution({"calls": [*before, *solution.calls]}))


class PlansLoseOwnKeys(SolutionMutant):
    """Keeps of the calls in a plan no more than tool and parameters: `loop010-plans-hold-the-last-calls`."""

    breaks = ("loop010-plans-hold-the-last-calls",)

    class loop(AgentLoop):  # noqa: N801
        def carry_plan(self, solution: Solution) -> None:
            bare = [
                {name: call[name] for name in call if name == "_tool" or not name.startswith("_")}
                for call in solution.calls
            ]
            super().carry_plan(Solution({"calls": bare}))


class LazyPlansRun(SolutionMutant):
    """Runs the calls of a lazy plan before it returns the Solution: `loop010-lazy-plans-run-nothing`."""

    breaks = ("loop010-lazy-plans-run-nothing",)

    class loop(AgentLoop):  # noqa: N801
        async def turn(self, tick: Tick) -> Solution | Unreadable:
            lazy, self.lazy = self.lazy, False
            solution = await super().turn(tick)
            self.lazy = lazy
            return solution


class LazyPlansGoOn(SolutionMutant):
    """Runs nothing of a lazy plan, and asks again: `loop010-lazy-plans-run-nothing`."""

    breaks = ("loop010-lazy-plans-run-nothing",)

    class loop(AgentLoop):  # noqa: N801
        async def turn(self, tick: Tick) -> Solution | Unreadable:
            solution = await super().turn(tick)
            self.lazy = False
            return solution


class LazyPlansReturnTheOutput(SolutionMutant):
    """Returns of a Solution that was not executed its output only: `loop010-lazy-plans-run-nothing`."""

    breaks = ("loop010-lazy-plans-run-nothing",)

    class loop(AgentLoop):  # noqa: N801
        async def run(self) -> Any | None:
            value = await super().run()
            return value.get("output") if self.lazy and isinstance(value, dict) else value
