"""What is told of calls that failed, or could not be run: policies of the dialect, and the seam `append_results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.actions import Action, End, Fail, Raised, Returned
from looptck_reference.dialects import FeedBack, Propagate
from looptck_reference.errors import BadArguments
from looptck_reference.loop import Loop
from looptck_reference.mutants.anthropic_loop.otherwise import otherwise
from looptck_reference.mutants.mutant import MESSAGES, MESSAGES_STREAM, Mutant, because
from looptck_reference.seams import Decision
from looptck_reference.tools import parse_arguments
from looptck_reference.values import Json, ToolCall, ToolResult, Turn


class ErrorsThrown(Mutant):
    """Hands the error of a tool to its caller: `claude-tool-errors-are-not-thrown`."""

    breaks = ("claude-tool-errors-are-not-thrown",)
    cells = MESSAGES
    dialects = otherwise(tool_raises=Propagate())


class FailuresUnmarked(Mutant):
    """Tells the model what a tool raised as if it had returned it: `claude-failed-results-are-marked`."""

    breaks = ("claude-failed-results-are-marked",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def _result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            result = super()._result(call, end)
            return replace(result, failed=False) if isinstance(result, ToolResult) else result


class AllMarkedWhereOneFailed(Mutant):
    """Marks all results of a turn where one of them is an error: `claude-failed-results-are-marked`."""

    breaks = ("claude-failed-results-are-marked",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            failed = any(result.failed for result in results)
            super().append_results([replace(result, failed=failed) for result in results])


class OthersCancelledWhereOneFailed(Mutant):
    """Keeps the results of a turn to itself where a tool raised: `claude-failing-call-leaves-the-others-whole`."""

    breaks = ("claude-failing-call-leaves-the-others-whole",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def tools_ended(self, ends: Sequence[End]) -> Action:
            raised = any(isinstance(end, Raised) for end in ends)
            return super().tools_ended(
                [Returned("cancelled") if raised and isinstance(end, Returned) else end for end in ends]
            )


class ReasonWithheld(Mutant):
    """Tells the model that a tool has failed, and not why: `claude-failed-results-tell-why`."""

    breaks = ("claude-failed-results-tell-why",)
    cells = MESSAGES
    dialects = otherwise(tool_raises=FeedBack("Error"))


class UnreadInputRuns(Mutant):
    """Runs a call whose input it cannot read without arguments: `claude-invalid-input-runs-nothing`."""

    breaks = ("claude-invalid-input-runs-nothing",)
    cells = MESSAGES_STREAM

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            return super().parse_arguments(text if _reads(text) else "")

        def append_results(self, results: Sequence[ToolResult]) -> None:
            unread = {call.id for call in self.called if not _reads(call.arguments)}
            super().append_results([replace(one, failed=one.failed or one.call_id in unread) for one in results])

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.called = turn.calls
            return turn.calls


class UnreadInputEnds(Mutant):
    """Takes a turn with a call that it cannot read for the answer: `claude-invalid-input-is-told`."""

    breaks = ("claude-invalid-input-is-told",)
    cells = MESSAGES_STREAM

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            decision = super().decide(turn)
            runs = decision is not Decision.RUN or all(_reads(call.arguments) for call in turn.calls)
            return decision if runs else Decision.ANSWER


class UnknownToolUnnamed(Mutant):
    """Tells the model that there is no such tool, and not which: `claude-unknown-tool-is-loud`."""

    breaks = ("claude-unknown-tool-is-loud",)
    cells = MESSAGES
    dialects = otherwise(unknown_tool=FeedBack("Error: there is no such tool."))


class UnknownToolIgnored(Mutant):
    """Passes over calls of tools that it does not know: `claude-unknown-tool-is-never-unanswered`."""

    breaks = ("claude-unknown-tool-is-never-unanswered",)
    also = because("where there is no result, nobody is told", "claude-unknown-tool-is-loud")
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return [call for call in turn.calls if self.handler_for(call) is not None]


def _reads(text: str) -> bool:
    """Whether the text is a JSON object, or blank."""
    try:
        parse_arguments(text)
    except BadArguments:
        return False
    return True
