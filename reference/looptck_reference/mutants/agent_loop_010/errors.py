"""Mutants of the 010 loop: what becomes of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import Unresolved
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.solution import Solution
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.agent_loop_010.tick import Start, Step, Tick
from looptck_reference.errors import LoopError
from looptck_reference.mutants.agent_loop_010.mutant import STREAM, SolutionMutant
from looptck_reference.mutants.mutant import because
from looptck_reference.tools import Tool
from looptck_reference.values import Json


class ToolFailed(LoopError):
    """A tool raised, and the caller is told."""

    reason = "tool"


class ValuesAreNotChecked(SolutionMutant):
    """Checks what the model wrote and not what its references stand for: `loop010-structural-errors-run-nothing`."""

    breaks = ("loop010-structural-errors-run-nothing",)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        class structure(Structure):  # noqa: N801
            def of_arguments(self, call: Call, arguments: Json) -> str | None:
                return None


class NothingIsChecked(SolutionMutant):
    """Runs calls of known tools whatever their parameters are: `loop010-structural-errors-run-nothing`."""

    breaks = ("loop010-structural-errors-run-nothing",)
    also = (
        because("what nobody noticed is no failure", "loop010-one-error-message-for-each-failure")
        | because("nor is it noticed in a correction", "loop010-corrected-calls-are-checked-again")
        | because("a call that runs is not told as failed", "loop010-errors-follow-all-results")
    )

    class loop(AgentLoop):  # noqa: N801
        class structure(Structure):  # noqa: N801
            def of_call(self, call: Call) -> str | None:
                fault = super().of_call(call)
                return fault if fault and "there is no tool" in fault else None

            def of_arguments(self, call: Call, arguments: Json) -> str | None:
                return None


class RaisedForTheCaller(SolutionMutant):
    """Hands what a tool raises to the caller of the loop: `loop010-raising-tools-end-nothing`."""

    breaks = ("loop010-raising-tools-end-nothing",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def failed(self, call: Call, error: Any) -> list[Step]:
                raise ToolFailed(str(error))


class RaisingCancelsOthers(SolutionMutant):
    """Forgets the calls of other tools that run when a tool raises: `loop010-raising-tools-end-nothing`."""

    breaks = ("loop010-raising-tools-end-nothing",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def failed(self, call: Call, error: Any) -> list[Step]:
                self.running = [one for one in self.running if one.tool == call.tool]
                return super().failed(call, error)

            def completed(self, call: Call, value: Any) -> list[Step]:
                return super().completed(call, value) if call in self.running else []


class RaisingStopsTheTurn(SolutionMutant):
    """Starts no further call of a turn in which a tool has raised: `loop010-raising-tools-end-nothing`."""

    breaks = ("loop010-raising-tools-end-nothing",)
    cells = STREAM

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def streamed(self, raw: Any) -> list[Step]:
                return [] if self.errors else super().streamed(raw)


class TwoMessagesForAFailure(SolutionMutant):
    """Tells what a tool raised twice: `loop010-one-error-message-for-each-failure`."""

    breaks = ("loop010-one-error-message-for-each-failure",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def failed(self, call: Call, error: Any) -> list[Step]:
                self.fail(call.raw, error)
                return super().failed(call, error)


class OneMessageForATool(SolutionMutant):
    """Tells of several failures of one tool the last one only: `loop010-one-error-message-for-each-failure`."""

    breaks = ("loop010-one-error-message-for-each-failure",)
    also = because("the others are not told", "loop010-errors-follow-all-results")

    class loop(AgentLoop):  # noqa: N801
        def append_errors(self, tick: Tick) -> None:
            by_tool = {error["data"]["call"]["_tool"]: error for error in tick.errors}
            tick.errors = [*by_tool.values()]
            super().append_errors(tick)


class NoReason(SolutionMutant):
    """Tells that a tool raised, and not what: `loop010-one-error-message-for-each-failure`."""

    breaks = ("loop010-one-error-message-for-each-failure",)

    class loop(AgentLoop):  # noqa: N801
        def error_of(self, error: BaseException) -> Any:
            return {"type": type(error).__name__}


class ErrorsAtOnce(SolutionMutant):
    """Appends each Error Message as the call fails: `loop010-errors-follow-all-results`."""

    breaks = ("loop010-errors-follow-all-results",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def fail(self, raw: Any, error: Any) -> None:
                super().fail(raw, error)
                self.context.append(self.errors.pop())


class ErrorsFirst(SolutionMutant):
    """Puts the Error Messages of a turn in front of its results: `loop010-errors-follow-all-results`."""

    breaks = ("loop010-errors-follow-all-results",)

    class loop(AgentLoop):  # noqa: N801
        def append_errors(self, tick: Tick) -> None:
            messages = self._context.messages
            results = [message for message in messages if "_call" in message]
            before = len(messages) - len(results)
            self._context.messages = [*messages[:before], *tick.errors, *results]


class ErrorsOneTurnLate(SolutionMutant):
    """Tells what a tool raised one Request later than it should: `loop010-errors-follow-all-results`."""

    breaks = ("loop010-errors-follow-all-results",)
    also = because("the next Request lacks it", "loop010-one-error-message-for-each-failure")

    class loop(AgentLoop):  # noqa: N801
        def append_errors(self, tick: Tick) -> None:
            late = [error for error in tick.errors if error["data"]["call"]["_tool"] == "boom"]
            tick.errors = [*self.late, *(error for error in tick.errors if error not in late)]
            self.late = late
            super().append_errors(tick)

        late: Sequence[Message] = ()


class ErrorsWithoutOwnKeys(SolutionMutant):
    """Tells a call that failed without its own keys but the tool: `loop010-errors-hold-the-whole-call`."""

    breaks = ("loop010-errors-hold-the-whole-call",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def fail(self, raw: Any, error: Any) -> None:
                bare = {name: raw[name] for name in raw if name == "_tool" or not name.startswith("_")}
                super().fail(bare, error)


class ErrorsWithoutTool(SolutionMutant):
    """Tells only the parameters of a call that failed, and where it was to go: `loop010-errors-hold-the-whole-call`."""

    breaks = ("loop010-errors-hold-the-whole-call",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def fail(self, raw: Any, error: Any) -> None:
                super().fail({name: raw[name] for name in raw if name != "_tool"}, error)


class ErrorsOutdoTheOutput(SolutionMutant):
    """Asks again where calls have failed beside an output: `loop010-output-ends-in-spite-of-errors`."""

    breaks = ("loop010-output-ends-in-spite-of-errors",)

    class loop(AgentLoop):  # noqa: N801
        failed = False

        def append_errors(self, tick: Tick) -> None:
            super().append_errors(tick)
            self.failed = bool(tick.errors)

        def is_final(self, solution: Solution) -> bool:
            return super().is_final(solution) and not self.failed


class UnknownToolsAreSkipped(SolutionMutant):
    """Takes no notice of calls of tools that nobody offered: `loop010-unknown-tools-are-structural-errors`."""

    breaks = ("loop010-unknown-tools-are-structural-errors",)

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            def fail(self, raw: Any, error: Any) -> None:
                if "there is no tool" not in str(error):
                    super().fail(raw, error)


class UnknownToolsEndTheRun(SolutionMutant):
    """Hands a call of a tool that nobody offered to the caller: `loop010-unknown-tools-are-structural-errors`."""

    breaks = ("loop010-unknown-tools-are-structural-errors",)

    class loop(AgentLoop):  # noqa: N801
        def __init__(self, request: Any, messages: Any, tools: Sequence[Tool], schema: Any, **options: Any) -> None:
            super().__init__(request, messages, tools, schema, **options)
            self.offered = {tool.name for tool in tools}

        def append_errors(self, tick: Tick) -> None:
            super().append_errors(tick)
            if any(error["data"]["call"]["_tool"] not in self.offered for error in tick.errors):
                raise ToolFailed("a tool that is not there")


class UnknownToolsAreGuessed(SolutionMutant):
    """Runs the tool whose name differs in case only: `loop010-unknown-tools-are-structural-errors`."""

    breaks = ("loop010-unknown-tools-are-structural-errors",)

    class loop(AgentLoop):  # noqa: N801
        class structure(Structure):  # noqa: N801
            def of_call(self, call: Call) -> str | None:
                return None if call.tool == "Count" else super().of_call(call)

            def of_arguments(self, call: Call, arguments: Json) -> str | None:
                return None if call.tool == "Count" else super().of_arguments(call, arguments)

        async def dispatch(self, start: Start) -> Any:
            return await super().dispatch(Start(start.call, start.activity.lower(), start.arguments))

        class tick(Tick):  # noqa: N801
            def is_latent(self, call: Call) -> bool:
                return self.activity_of(call).lower() not in self.activities


class UnresolvedCallsRun(SolutionMutant):
    """Runs a call without its parameters where nobody can resolve them: `loop010-structural-errors-run-nothing`."""

    breaks = ("loop010-structural-errors-run-nothing",)
    also = because(
        "a call that can never start is started",
        "loop010-cycles-become-errors",
        "loop010-dependents-of-failures-never-run",
        "loop010-unresolvable-references-become-errors",
    )

    class loop(AgentLoop):  # noqa: N801
        class tick(Tick):  # noqa: N801
            lenient = False

            def rescan(self) -> list[Step]:
                steps = super().rescan()
                if self.lenient:
                    steps += super().rescan()
                    self.lenient = False
                return steps

            def end_blocked(self) -> None:
                self.lenient = bool(self.pending)

            def arguments(self, call: Call) -> Json:
                try:
                    return super().arguments(call)
                except Unresolved:
                    if not self.lenient:
                        raise
                return {}

            def launch(self, call: Call) -> Step | None:
                if not self.lenient:
                    return super().launch(call)
                self.running.append(call)
                return Start(call, self.activity_of(call), self.arguments(call))
