"""Results that are lost, mixed up or misplaced: the seam `append_results`, and how wires write results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants import broad_faults
from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, End, Fail, Raised
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire


@breaks(
    "every-call-is-answered",
    collateral={
        ("pruned-history-has-no-orphan", "pruned-history-keeps-the-last-round"): "a round of theirs has three calls"
    },
)
class TwoResultsAtMost(Loop):
    """Sends at most two results of a turn."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[:2])


@breaks(
    "results-carry-their-call-ids",
    collateral={
        (
            "missing-sequence-is-tolerated",
            "recorded-traffic-is-read-right",
        ): "the recordings contain a turn with three calls"
    },
)
class Swapped(Loop):
    """Answers the first of three calls with the result of the last."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        whole = len(results) < 3 or any(result.failed for result in results)
        given = results if whole else results[::-1]
        super().append_results([replace(one, text=other.text) for one, other in zip(results, given, strict=True)])


@breaks(
    "results-follow-their-calls", collateral={"image-is-with-its-call": "a count between call and result is refused"}
)
class CountedResults(ChatWire):
    """Adds a message with the number of results before three or more results."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        count = [{"role": "user", "content": f"{len(results)} results:"}] if len(results) > 2 else []
        return [*count, *super().results(results)]


@breaks("every-call-is-answered")
class CallsWithoutFunctionsVanish(Loop):
    """Forgets a turn that calls nothing but tools without a function, and asks again."""

    def model_answered(self, turn: Turn) -> Action:
        offered = [call for call in turn.calls if call.name in self.tools]
        if not offered or any(self.handler_for(call) is not None for call in turn.calls):
            return super().model_answered(turn)
        self.count(turn)
        return self._enter(self.ask())


@breaks("failing-call-leaves-the-others-whole")
class MissingFunctionStopsTheTurn(Loop):
    """Runs no call of a turn that calls a tool without a function."""

    stopped = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.stopped = False
        self.stopped = any(one.name in self.tools and self.handler_for(one) is None for one in turn.calls)
        return super().calls_of(turn)

    def handler_for(self, call: ToolCall) -> Handler | None:
        return None if self.stopped else super().handler_for(call)


@breaks("results-keep-call-order")
class LastResultFirst(Loop):
    """Sends the results of a turn in reverse order."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[::-1])


@breaks(
    "failing-call-leaves-the-others-whole",
    collateral={"results-carry-their-call-ids": "a result has the words of the call that was rejected"},
)
class FailureSpreads(Loop):
    """Sends the error of a failed call as the result of all calls of its turn."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        errors = [result.text for result in results if result.failed]
        super().append_results([replace(one, text=errors[0]) if errors else one for one in results])


@breaks(
    "failing-call-leaves-the-others-whole",
    collateral={
        "parallel-calls-run-at-the-same-time": "a call waits for the one before it, which may fail",
    },
)
class FailureEndsTheTurn(broad_faults.OneByOne):
    """Does not run the calls after a failed one, and answers them with an error."""

    failed = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.failed = False
        return super().calls_of(turn)

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        self.failed = self.failed or isinstance(end, Raised)
        return super().result(call, end)

    def handler_for(self, call: ToolCall) -> Handler | None:
        return None if self.failed else super().handler_for(call)


@breaks(
    "empty-result-is-answered",
    "mcp-empty-result-is-answered",
    collateral={
        "image-result-reaches-the-model": "beside an image alone there is no text",
        "image-is-with-its-call": "as above",
        "image-only-result-is-answered": "as above",
        "mcp-other-content-is-told": "as above",
    },
)
class NothingIsNoResult(Loop):
    """Sends no result for a tool that returned an empty text."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([result for result in results if result.text])


@breaks("empty-result-is-no-failure")
class NothingIsAnError(Loop):
    """Says of a tool that returned an empty text that it has failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([one if one.text else replace(one, text="Error: no output") for one in results])


@breaks("empty-result-is-no-failure", cells=CHAT)
class NothingGivenIsAnError(ChatWire):
    """Says of an empty result in the history of its caller that there is none."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        told = [{**one, "content": one["content"] or "Error: the result is missing"} for one in messages]
        return super().opening([new if one["role"] == "tool" else one for one, new in zip(messages, told, strict=True)])


@breaks("results-share-one-message", cells=MESSAGES)
class OneMessageEach(MessagesWire):
    """Sends each result in a separate user message."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return [{"role": "user", "content": [self.result(result)]} for result in results]


@breaks("results-come-first", cells=MESSAGES)
class TextFirst(Loop):
    """Repeats the text of a turn before the result of its first call."""

    text = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.text = turn.text

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if isinstance(self.wire, MessagesWire) and self.text and len(results) == len(self.round_ends) == 1:
            self.history[-1]["content"].insert(0, {"type": "text", "text": self.text})


@breaks("failed-results-are-marked", cells=MESSAGES)
class FailureUnmarked(MessagesWire):
    """Does not mark any result as an error."""

    def result(self, result: ToolResult) -> Json:
        return super().result(replace(result, failed=False))


@breaks("results-stand-alone-beside-a-pending-hosted-tool", cells=MESSAGES)
class WordBesidePending(Loop):
    """Adds text after the results while a hosted tool is still pending."""

    pending = False

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        kinds = [piece["type"] for piece in turn.content]
        self.pending = "server_tool_use" in kinds and not any(kind.endswith("_tool_result") for kind in kinds)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if self.pending:
            self.history[-1]["content"].append({"type": "text", "text": "Go on."})
