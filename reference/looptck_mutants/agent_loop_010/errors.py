"""Mutants of the 010 loop: what becomes of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import Unresolved
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Start, Step
from looptck_reference.agent_loop_010.solution import Solution
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.loop.errors import LoopError
from looptck_reference.loop.tools import Tool
from looptck_reference.loop.values import Json


class ToolFailed(LoopError):
    """A tool raised, and the caller is told."""

    reason = "tool"


@breaks("loop010-structural-errors-run-nothing")
class ValuesAreNotChecked(Structure):
    """Checks what the model wrote and not what its references stand for."""

    def of_arguments(self, call: Call, arguments: Json) -> str | None:
        return None


@breaks(
    "loop010-structural-errors-run-nothing",
    collateral={
        "loop010-one-error-message-for-each-failure": "what nobody noticed is no failure",
        "loop010-corrected-calls-are-checked-again": "nor is it noticed in a correction",
        "loop010-errors-follow-all-results": "a call that runs is not told as failed",
    },
)
class NothingIsChecked(Structure):
    """Runs calls of known tools whatever their parameters are."""

    def of_call(self, call: Call) -> str | None:
        fault = super().of_call(call)
        return fault if fault and "there is no tool" in fault else None

    def of_arguments(self, call: Call, arguments: Json) -> str | None:
        return None


@breaks("loop010-raising-tools-end-nothing")
class RaisedForTheCaller(CallScheduler):
    """Hands what a tool raises to the caller of the loop."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        raise ToolFailed(str(error))


@breaks("loop010-raising-tools-end-nothing")
class RaisingCancelsOthers(CallScheduler):
    """Forgets the calls of other tools that run when a tool raises."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        self.running = [one for one in self.running if one.tool == call.tool]
        return super().failed(call, error)

    def completed(self, call: Call, value: Any) -> list[Step]:
        return super().completed(call, value) if call in self.running else []


@breaks("loop010-raising-tools-end-nothing", cells=STREAM)
class RaisingStopsTheTurn(CallScheduler):
    """Starts no further call of a turn in which a tool has raised."""

    def streamed(self, raw: Any) -> list[Step]:
        return [] if self.errors else super().streamed(raw)


@breaks("loop010-one-error-message-for-each-failure")
class TwoMessagesForAFailure(CallScheduler):
    """Tells what a tool raised twice."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        self.fail(call.raw, error)
        return super().failed(call, error)


@breaks(
    "loop010-one-error-message-for-each-failure",
    collateral={"loop010-errors-follow-all-results": "the others are not told"},
)
class OneMessageForATool(SolutionLoop):
    """Tells of several failures of one tool the last one only."""

    def append_errors(self, tick: CallScheduler) -> None:
        by_tool = {error["data"]["call"]["_tool"]: error for error in tick.errors}
        tick.errors = [*by_tool.values()]
        super().append_errors(tick)


@breaks("loop010-one-error-message-for-each-failure")
class NoReason(SolutionLoop):
    """Tells that a tool raised, and not what."""

    def error_of(self, error: BaseException) -> Any:
        return {"type": type(error).__name__}


@breaks("loop010-errors-follow-all-results")
class ErrorsAtOnce(CallScheduler):
    """Appends each Error Message as the call fails."""

    def fail(self, raw: Any, error: Any) -> None:
        super().fail(raw, error)
        self.context.append(self.errors.pop())


@breaks("loop010-errors-follow-all-results")
class ErrorsFirst(SolutionLoop):
    """Puts the Error Messages of a turn in front of its results."""

    def append_errors(self, tick: CallScheduler) -> None:
        messages = self._context.messages
        results = [message for message in messages if "_call" in message]
        before = len(messages) - len(results)
        self._context.messages = [*messages[:before], *tick.errors, *results]


@breaks(
    "loop010-errors-follow-all-results",
    collateral={"loop010-one-error-message-for-each-failure": "the next Request lacks it"},
)
class ErrorsOneTurnLate(SolutionLoop):
    """Tells what a tool raised one Request later than it should."""

    def append_errors(self, tick: CallScheduler) -> None:
        late = [error for error in tick.errors if error["data"]["call"]["_tool"] == "boom"]
        tick.errors = [*self.late, *(error for error in tick.errors if error not in late)]
        self.late = late
        super().append_errors(tick)

    late: Sequence[Message] = ()


@breaks("loop010-errors-hold-the-whole-call")
class ErrorsWithoutOwnKeys(CallScheduler):
    """Tells a call that failed without its own keys but the tool."""

    def fail(self, raw: Any, error: Any) -> None:
        bare = {name: raw[name] for name in raw if name == "_tool" or not name.startswith("_")}
        super().fail(bare, error)


@breaks("loop010-errors-hold-the-whole-call")
class ErrorsWithoutTool(CallScheduler):
    """Tells only the parameters of a call that failed, and where it was to go."""

    def fail(self, raw: Any, error: Any) -> None:
        super().fail({name: raw[name] for name in raw if name != "_tool"}, error)


@breaks("loop010-output-ends-in-spite-of-errors")
class ErrorsOutdoTheOutput(SolutionLoop):
    """Asks again where calls have failed beside an output."""

    failed = False

    def append_errors(self, tick: CallScheduler) -> None:
        super().append_errors(tick)
        self.failed = bool(tick.errors)

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) and not self.failed


@breaks("loop010-unknown-tools-are-structural-errors")
class UnknownToolsAreSkipped(CallScheduler):
    """Takes no notice of calls of tools that nobody offered."""

    def fail(self, raw: Any, error: Any) -> None:
        if "there is no tool" not in str(error):
            super().fail(raw, error)


@breaks("loop010-unknown-tools-are-structural-errors")
class UnknownToolsEndTheRun(SolutionLoop):
    """Hands a call of a tool that nobody offered to the caller."""

    def __init__(self, request: Any, messages: Any, tools: Sequence[Tool], schema: Any, **options: Any) -> None:
        super().__init__(request, messages, tools, schema, **options)
        self.offered = {tool.name for tool in tools}

    def append_errors(self, tick: CallScheduler) -> None:
        super().append_errors(tick)
        if any(error["data"]["call"]["_tool"] not in self.offered for error in tick.errors):
            raise ToolFailed("a tool that is not there")


@breaks("loop010-unknown-tools-are-structural-errors")
class UnknownToolsAreGuessed(SolutionLoop):
    """Runs the tool whose name differs in case only."""

    class Guessing(Structure):
        def of_call(self, call: Call) -> str | None:
            return None if call.tool == "Count" else super().of_call(call)

        def of_arguments(self, call: Call, arguments: Json) -> str | None:
            return None if call.tool == "Count" else super().of_arguments(call, arguments)

    structure = Guessing

    async def dispatch(self, start: Start) -> Any:
        return await super().dispatch(Start(start.call, start.activity.lower(), start.arguments))

    class Lowering(CallScheduler):
        def is_latent(self, call: Call) -> bool:
            return self.activity_of(call).lower() not in self.activities

    tick = Lowering


@breaks(
    "loop010-structural-errors-run-nothing",
    collateral={
        (
            "loop010-cycles-become-errors",
            "loop010-dependents-of-failures-never-run",
            "loop010-unresolvable-references-become-errors",
        ): "a call that can never start is started"
    },
)
class UnresolvedCallsRun(CallScheduler):
    """Runs a call without its parameters where nobody can resolve them."""

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
