"""Results of calls that failed or could not run: policies of the dialect, and the seam `append_results`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.anthropic_loop.otherwise import otherwise
from looptck_mutants.cells import MESSAGES, MESSAGES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, End, Fail, Raised, Returned
from looptck_reference.vocabulary.dialects import FeedBack, Propagate
from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import parse_arguments
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn


@breaks("claude-tool-errors-are-not-thrown", cells=MESSAGES)
class ErrorsThrown(Driver):
    """Raises a tool's exception to its caller."""

    dialects = otherwise(tool_raises=Propagate())


@breaks("claude-failed-results-are-marked", cells=MESSAGES)
class FailuresUnmarked(Loop):
    """Reports a tool's exception to the model without marking the result as an error."""

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        result = super().result(call, end)
        return replace(result, failed=False) if isinstance(result, ToolResult) else result


@breaks("claude-failing-call-leaves-the-others-whole", cells=MESSAGES)
class OthersCancelledWhereOneFailed(Loop):
    """Withholds the other results of a turn if one tool raised."""

    def tools_ended(self, ends: Sequence[End]) -> Action:
        raised = any(isinstance(end, Raised) for end in ends)
        return super().tools_ended(
            [Returned("cancelled") if raised and isinstance(end, Returned) else end for end in ends]
        )


@breaks("claude-failed-results-tell-why", cells=MESSAGES)
class ReasonWithheld(Driver):
    """Reports to the model that a tool failed, but not why."""

    dialects = otherwise(tool_raises=FeedBack("Error"))


@breaks("claude-invalid-input-runs-nothing", cells=MESSAGES_STREAM)
class UnreadInputRuns(Loop):
    """Runs a call without arguments if its input is invalid."""

    def parse_arguments(self, text: str) -> Json:
        return super().parse_arguments(text if _reads(text) else "")

    def append_results(self, results: Sequence[ToolResult]) -> None:
        unread = {call.id for call in self.called if not _reads(call.arguments)}
        super().append_results([replace(one, failed=one.failed or one.call_id in unread) for one in results])

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.called = turn.calls
        return turn.calls


@breaks("claude-invalid-input-is-told", cells=MESSAGES_STREAM)
class UnreadInputEnds(Loop):
    """Treats a turn with an invalid input as the answer."""

    def decide(self, turn: Turn) -> Decision:
        decision = super().decide(turn)
        runs = decision is not Decision.RUN or all(_reads(call.arguments) for call in turn.calls)
        return decision if runs else Decision.ANSWER


@breaks("claude-unknown-tool-is-loud", cells=MESSAGES)
class UnknownToolUnnamed(Driver):
    """Reports an unknown tool to the model without its name."""

    dialects = otherwise(unknown_tool=FeedBack("Error: there is no such tool."))


@breaks(
    "claude-unknown-tool-is-never-unanswered",
    collateral={"claude-unknown-tool-is-loud": "without a result the model gets no report"},
    cells=MESSAGES,
)
class UnknownToolIgnored(Loop):
    """Ignores calls of unknown tools."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return [call for call in turn.calls if self.handler_for(call) is not None]


def _reads(text: str) -> bool:
    """Whether the text is a JSON object or blank."""
    try:
        parse_arguments(text)
    except BadArguments:
        return False
    return True
