"""Mutants of the 010 loop: handling of failed calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import Unresolved
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Start, Step
from looptck_reference.agent_loop_010.solution import Solution
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json


class ToolFailed(LoopError):
    """The loop's error for its caller when a tool has raised."""

    reason = "tool"


@breaks(
    "loop010-structural-errors-run-nothing",
    collateral={
        "loop010-one-error-message-for-each-failure": "an undetected fault causes no Error Message",
        "loop010-corrected-calls-are-checked-again": "resolved values of a corrected call are not validated either",
        "loop010-errors-follow-all-results": "the invalid call runs, so it has no Error Message",
    },
)
class NothingIsChecked(Structure):
    """Runs calls of known tools without validating their parameters."""

    def of_call(self, call: Call) -> str | None:
        fault = super().of_call(call)
        return fault if fault and "there is no tool" in fault else None

    def of_arguments(self, call: Call, arguments: Json) -> str | None:
        return None


@breaks("loop010-raising-tools-end-nothing")
class RaisedForTheCaller(CallScheduler):
    """Raises a tool's exception to the caller of the loop."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        raise ToolFailed(str(error))


@breaks("loop010-one-error-message-for-each-failure")
class TwoMessagesForAFailure(CallScheduler):
    """Appends two Error Messages for one tool exception."""

    def failed(self, call: Call, error: Any) -> list[Step]:
        self.fail(call.raw, error)
        return super().failed(call, error)


@breaks("loop010-one-error-message-for-each-failure")
class ErrorsComeAgain(SolutionLoop):
    """Appends the Error Messages of all earlier turns again."""

    earlier: Sequence[Message] = ()

    def append_errors(self, tick: CallScheduler) -> None:
        super().append_errors(tick)
        for error in self.earlier:
            self._context.append(error)
        self.earlier = [*self.earlier, *tick.errors]


@breaks("loop010-one-error-message-for-each-failure")
class NoReason(SolutionLoop):
    """Reports that a tool raised, but not its exception."""

    def error_of(self, error: BaseException) -> Any:
        return {"type": type(error).__name__}


@breaks("loop010-errors-follow-all-results")
class ErrorsFirst(SolutionLoop):
    """Puts the Error Messages of a turn before its results."""

    def append_errors(self, tick: CallScheduler) -> None:
        messages = self._context.messages
        results = [message for message in messages if "_call" in message]
        before = len(messages) - len(results)
        self._context.messages = [*messages[:before], *tick.errors, *results]


@breaks(
    "loop010-errors-follow-all-results",
    collateral={"loop010-one-error-message-for-each-failure": "the next Request lacks the Error Message"},
)
class ErrorsOneTurnLate(SolutionLoop):
    """Appends the Error Message of a tool exception one Request too late."""

    def append_errors(self, tick: CallScheduler) -> None:
        late = [error for error in tick.errors if error["data"]["call"]["_tool"] == "boom"]
        tick.errors = [*self.late, *(error for error in tick.errors if error not in late)]
        self.late = late
        super().append_errors(tick)

    late: Sequence[Message] = ()


@breaks("loop010-errors-hold-the-whole-call")
class ErrorsWithoutTool(CallScheduler):
    """Reports only the parameters and the output path of a failed call."""

    def fail(self, raw: Any, error: Any) -> None:
        super().fail({name: raw[name] for name in raw if name != "_tool"}, error)


@breaks("loop010-output-ends-in-spite-of-errors")
class ErrorsOutdoTheOutput(SolutionLoop):
    """Sends another Request if calls failed in the turn that has an output."""

    failed = False

    def append_errors(self, tick: CallScheduler) -> None:
        super().append_errors(tick)
        self.failed = bool(tick.errors)

    def is_final(self, solution: Solution) -> bool:
        return super().is_final(solution) and not self.failed


@breaks("loop010-unknown-tools-are-structural-errors")
class UnknownToolsAreSkipped(CallScheduler):
    """Ignores calls of unknown tools without an error."""

    def fail(self, raw: Any, error: Any) -> None:
        if "there is no tool" not in str(error):
            super().fail(raw, error)


@breaks("loop010-unknown-tools-are-structural-errors")
class UnknownToolsEndTheRun(SolutionLoop):
    """Raises an error to the caller for a call of an unknown tool."""

    def __init__(self, request: Any, messages: Any, tools: Sequence[Tool], schema: Any, **options: Any) -> None:
        super().__init__(request, messages, tools, schema, **options)
        self.offered = {tool.name for tool in tools}

    def append_errors(self, tick: CallScheduler) -> None:
        super().append_errors(tick)
        if any(error["data"]["call"]["_tool"] not in self.offered for error in tick.errors):
            raise ToolFailed("a call of an unknown tool")


@breaks(
    "loop010-structural-errors-run-nothing",
    collateral={
        (
            "loop010-cycles-become-errors",
            "loop010-dependents-of-failures-never-run",
            "loop010-unresolvable-references-become-errors",
        ): "a call that must never start is started"
    },
)
class UnresolvedCallsRun(CallScheduler):
    """Runs a call without the parameters whose references cannot be resolved."""

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
