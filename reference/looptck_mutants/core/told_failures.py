"""Failures that are told to the caller or to the model as something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Fail, Run
from looptck_reference.vocabulary.dialects import Policy
from looptck_reference.vocabulary.errors import BadArguments, Reason
from looptck_reference.vocabulary.values import ToolCall, ToolResult


class Telling(Loop):
    """Knows which calls of the turn have run."""

    def ran(self, result: ToolResult) -> bool:
        """Whether this is the result of a call that has run."""
        return result.call_id in {step.call.id for _, step in self._batch if isinstance(step, Run)}


@breaks("call-that-cannot-run-is-told-as-failed", cells=CHAT)
class CallsWithoutARunAreDone(Telling):
    """Tells of calls that it cannot run that they have gone well."""

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(result if self.ran(result) else replace(result, failed=False))


@breaks("failed-results-are-marked", cells=MESSAGES)
class OnlyRunsFail(Telling):
    """Marks no result of a call that it cannot run as failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([one if self.ran(one) else replace(one, failed=False) for one in results])


class Slipping(Loop):
    """Slips where it wants to tell the model of a call that cannot run, and tells it of the slip."""

    def slip(self, call: ToolCall, what: str) -> ToolResult:
        """The result of a call about which the loop has made a mistake."""
        return ToolResult(self.answer_id(call), call.name, f"Error: {what}", failed=True, extra=call.extra)


@breaks("result-of-a-failure-is-about-it", cells=CHAT)
class SlipsOverAnUnknownTool(Slipping):
    """Asks a tool that nobody offers for its name."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        if reason != "unknown-tool":
            return super().fault(policy, call, error, reason)
        return self.slip(call, "'NoneType' object has no attribute 'name'")


@breaks("result-of-a-failure-is-about-it", cells=CHAT)
class SlipsOverBadArguments(Slipping):
    """Wants to say why arguments are no JSON, and has not kept the reason."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        if not isinstance(error, BadArguments):
            return super().fault(policy, call, error, reason)
        return self.slip(call, "NameError: name 'reason' is not defined")


@breaks("result-of-a-failure-is-about-it", cells=CHAT)
class SlipsOverAMissingMember(Slipping):
    """Checks whether arguments have what the tool requires, and raises a text where they do not."""

    def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
        prepared = super().prepare(call)
        tool = self.tools.get(call.name)
        required = [] if tool is None else tool.parameters.get("required", [])
        if not isinstance(prepared, Run) or all(name in prepared.arguments for name in required):
            return prepared
        return self.slip(call, "exceptions must derive from BaseException")
