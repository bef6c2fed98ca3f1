"""Mutants of the 010 loop: the output that ends a run, and the value that is returned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Step
from looptck_reference.agent_loop_010.solution import Solution, Unreadable


@breaks(
    "loop010-null-output-asks-again",
    "loop010-no-calls-is-no-end",
    collateral={
        (
            "loop010-corrected-calls-are-checked-again",
            "loop010-rejected-calls-do-not-run",
            "loop010-raising-tools-end-nothing",
            "loop010-unknown-tools-are-structural-errors",
            "loop010-unresolvable-references-become-errors",
            "loop010-cycles-become-errors",
            "loop010-dependents-of-failures-never-run",
            "loop010-turns-are-limited",
        ): "the run ends before the turns that these requirements need"
    },
)
class NullEnds(SolutionLoop):
    """Ends on any Solution with a member `output`, even if it is null."""

    def is_final(self, solution: Solution) -> bool:
        return solution.has_output


@breaks("loop010-no-calls-is-no-end")
class NoCallsEnd(SolutionLoop):
    """Ends with null if a Solution has no calls."""

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) or not solution.calls


@breaks("loop010-output-ends-and-is-returned")
class ListsAreProgress(SolutionLoop):
    """Continues if the output is a non-empty array."""

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) and not (isinstance(solution.output, list) and solution.output)


@breaks(
    "loop010-output-beside-calls-ends",
    collateral={"loop010-output-ends-in-spite-of-errors": "failed calls count as calls too"},
)
class CallsComeFirst(SolutionLoop):
    """Continues if a Solution has calls, even if it has an output."""

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) and not solution.calls


@breaks("loop010-falsy-outputs-end")
class FalsyIsNull(SolutionLoop):
    """Treats an output that is false, 0 or empty as null."""

    def is_final(self, solution: Solution) -> bool:
        return bool(solution.output)


@breaks("loop010-calls-of-the-last-turn-run")
class ReturnsAtOnce(SolutionLoop):
    """Returns an output as soon as it is parsed, and cancels the running calls."""

    ends = False

    def request_ended(self, tick: CallScheduler, solution: Solution | Unreadable) -> Sequence[Step]:
        self.ends = isinstance(solution, Solution) and self.is_final(solution)
        return super().request_ended(tick, solution)

    def is_over(self, tick: CallScheduler) -> bool:
        return self.ends or super().is_over(tick)


@breaks(
    "loop010-output-ends-and-is-returned",
    collateral={
        (
            "loop010-falsy-outputs-end",
            "loop010-lazy-plans-run-nothing",
            "loop010-output-ends-in-spite-of-errors",
        ): "those requirements check returned outputs too"
    },
)
class OutputsBecomeText(SolutionLoop):
    """Returns an output that is not a string as its JSON text."""

    async def run(self) -> Any | None:
        output = await super().run()
        return output if output is None or isinstance(output, str) else json.dumps(output)


@breaks("loop010-output-ends-and-is-returned")
class OutputsAreStripped(SolutionLoop):
    """Returns a text output without leading and trailing white space."""

    async def run(self) -> Any | None:
        output = await super().run()
        return output.strip() if isinstance(output, str) else output


@breaks("loop010-output-ends-and-is-returned")
class JsonTextsAreParsed(SolutionLoop):
    """Returns the parsed value if a text output is valid JSON."""

    async def run(self) -> Any | None:
        output = await super().run()
        if not isinstance(output, str) or not output.startswith(("{", "null")):
            return output
        return parsed(output)


def parsed(text: str) -> Any:
    """The JSON value of a text, None if it is not JSON."""
    with suppress(ValueError):
        return json.loads(text)
    return None
