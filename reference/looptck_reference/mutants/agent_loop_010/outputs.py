"""Mutants of the 010 loop: which output ends a run, and what is returned."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.solution import Reader, Solution, Unreadable
from looptck_reference.agent_loop_010.tick import Step, Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.mutant import because


class NullEnds(SolutionMutant):
    """Ends with whatever stands under `output`: `loop010-null-output-asks-again`, `loop010-no-calls-is-no-end`."""

    breaks = ("loop010-null-output-asks-again", "loop010-no-calls-is-no-end")
    also = because(
        "a run that has ended does not go on",
        "loop010-corrected-calls-are-checked-again",
        "loop010-rejected-calls-do-not-run",
        "loop010-raising-tools-end-nothing",
        "loop010-unknown-tools-are-structural-errors",
        "loop010-unresolvable-references-become-errors",
        "loop010-cycles-become-errors",
        "loop010-dependents-of-failures-never-run",
        "loop010-turns-are-limited",
    )

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return solution.has_output


class NoCallsEnd(SolutionMutant):
    """Ends, with nothing, when the model asks for nothing: `loop010-no-calls-is-no-end`."""

    breaks = ("loop010-no-calls-is-no-end",)

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return super().is_final(solution) or not solution.calls


class NullMembersAreLost(SolutionMutant):
    """Returns the output without its members that are null: `loop010-output-ends-and-is-returned`."""

    breaks = ("loop010-output-ends-and-is-returned",)

    class loop(AgentLoop):  # noqa: N801
        async def run(self) -> Any | None:
            output = await super().run()
            if isinstance(output, dict):
                return {name: value for name, value in output.items() if value is not None}
            return output


class ListsAreProgress(SolutionMutant):
    """Goes on when the output is a list of something: `loop010-output-ends-and-is-returned`."""

    breaks = ("loop010-output-ends-and-is-returned",)

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return super().is_final(solution) and not (isinstance(solution.output, list) and solution.output)


class CallsComeFirst(SolutionMutant):
    """Goes on while there are calls, whatever the output: `loop010-output-beside-calls-ends`."""

    breaks = ("loop010-output-beside-calls-ends",)
    also = because("calls that have failed are calls", "loop010-output-ends-in-spite-of-errors")

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return super().is_final(solution) and not solution.calls


class FalsyIsNull(SolutionMutant):
    """Takes an output that is false, 0 or empty for none: `loop010-falsy-outputs-end`."""

    breaks = ("loop010-falsy-outputs-end",)

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            return bool(solution.output)


class ZeroIsNull(SolutionMutant):
    """Takes 0 and an empty text for no output, and no others: `loop010-falsy-outputs-end`."""

    breaks = ("loop010-falsy-outputs-end",)

    class loop(AgentLoop):  # noqa: N801
        def is_final(self, solution: Solution) -> bool:
            zero = isinstance(solution.output, int | float) and solution.output == 0
            return super().is_final(solution) and not zero and solution.output != ""


class ReturnsAtOnce(SolutionMutant):
    """Returns an output as soon as it is read, and cancels what runs: `loop010-calls-of-the-last-turn-run`."""

    breaks = ("loop010-calls-of-the-last-turn-run",)

    class loop(AgentLoop):  # noqa: N801
        ends = False

        def request_ended(self, tick: Tick, solution: Solution | Unreadable) -> Sequence[Step]:
            self.ends = isinstance(solution, Solution) and self.is_final(solution)
            return super().request_ended(tick, solution)

        def is_over(self, tick: Tick) -> bool:
            return self.ends or super().is_over(tick)


class LastTurnsBlockedCallsAreDropped(SolutionMutant):
    """Beside an output, runs what can run at once and nothing else: `loop010-calls-of-the-last-turn-run`."""

    breaks = ("loop010-calls-of-the-last-turn-run",)

    class loop(AgentLoop):  # noqa: N801
        def request_ended(self, tick: Tick, solution: Solution | Unreadable) -> Sequence[Step]:
            if isinstance(solution, Solution) and self.is_final(solution):
                tick.pending = []
            return super().request_ended(tick, solution)


class LastTurnRunsNothing(SolutionMutant):
    """Starts no call when it has read an output with it: `loop010-calls-of-the-last-turn-run`."""

    breaks = ("loop010-calls-of-the-last-turn-run",)
    cells = ("openai-chat/plain/async",)

    class loop(AgentLoop):  # noqa: N801
        class reader(Reader):  # noqa: N801
            def feed(self, piece: str) -> list[Any]:
                calls = super().feed(piece)
                return [] if (parsed(self.text) or {}).get("output") is not None else calls


class StopsReadingAtTheOutput(SolutionMutant):
    """Reads no further than an output, though calls may follow it: `loop010-calls-of-the-last-turn-run`."""

    breaks = ("loop010-calls-of-the-last-turn-run",)

    class loop(AgentLoop):  # noqa: N801
        class reader(Reader):  # noqa: N801
            def feed(self, piece: str) -> list[Any]:
                calls = super().feed(piece)
                return [] if re.match(r'\{"output":(?!null)', self.text) else calls


class OutputsBecomeText(SolutionMutant):
    """Returns an output that is no text as its JSON text: `loop010-output-ends-and-is-returned`."""

    breaks = ("loop010-output-ends-and-is-returned",)
    also = because(
        "other outputs are returned too",
        "loop010-falsy-outputs-end",
        "loop010-lazy-plans-run-nothing",
        "loop010-output-ends-in-spite-of-errors",
    )

    class loop(AgentLoop):  # noqa: N801
        async def run(self) -> Any | None:
            output = await super().run()
            return output if output is None or isinstance(output, str) else json.dumps(output)


class OutputsAreStripped(SolutionMutant):
    """Returns a text without the blanks around it: `loop010-output-ends-and-is-returned`."""

    breaks = ("loop010-output-ends-and-is-returned",)

    class loop(AgentLoop):  # noqa: N801
        async def run(self) -> Any | None:
            output = await super().run()
            return output.strip() if isinstance(output, str) else output


class JsonTextsAreParsed(SolutionMutant):
    """Returns the value that an output is the JSON text of: `loop010-output-ends-and-is-returned`."""

    breaks = ("loop010-output-ends-and-is-returned",)

    class loop(AgentLoop):  # noqa: N801
        async def run(self) -> Any | None:
            output = await super().run()
            if not isinstance(output, str) or not output.startswith(("{", "null")):
                return output
            return parsed(output)


def parsed(text: str) -> Any:
    """The JSON value that a text is, None if it is none."""
    with suppress(ValueError):
        return json.loads(text)
    return None
