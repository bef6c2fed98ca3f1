"""Turns whose calls must not run: `decide`, `stop`, and how wires read the stop reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, MESSAGES_STREAM, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesStream, MessagesWire, ResponsesWire

NAMED = {"end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "pause_turn"}
"""The stop reasons of Anthropic Messages that an older client knows."""


@breaks("calls-decide-not-the-finish-reason")
class WordDecides(ChatWire):
    """Does not run the calls of a turn with the finish reason stop."""

    runs_calls_on = frozenset({Stop.CALLS})


class RunsAtTheLimit(Loop):
    """Runs the readable calls of a turn that the token limit or the context window truncated."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)


@breaks("truncated-call-never-runs")
class CutCallsAreMended(RunsAtTheLimit):
    """Completes a truncated call by guessing, and runs it."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return _whole(turn.calls) if turn.stop is Stop.LENGTH else super().calls_of(turn)


@breaks(
    "truncated-turn-runs-nothing",
    cells=MESSAGES,
    collateral={"truncated-call-never-runs": "a turn with a cut call is a cut turn"},
)
class CutTurnsRun(RunsAtTheLimit):
    """Runs the complete calls of a truncated turn."""


@breaks("incomplete-call-never-runs", cells=RESPONSES)
class IncompleteCallsRun(RunsAtTheLimit):
    """Runs a call that the service marks as incomplete if its arguments are valid JSON."""


@breaks("unstopped-block-never-runs", cells=MESSAGES_STREAM)
class UnstoppedBlockRuns(MessagesStream):
    """Completes a call whose block never stopped, and runs it."""

    def take(self, event: Json) -> str:
        if event.get("type") == "content_block_stop":
            self.block_at(event.get("index")).head["stopped"] = True
        return super().take(event)

    def turn(self) -> Turn:
        for block in self.blocks:
            if not block.head.pop("stopped", False) and block.head.get("type") == "tool_use":
                block.input.append('"}')
                self.stop_reason = "tool_use"
        return super().turn()


class RunsBehindTheFilter(Loop):
    """Runs the calls of a turn that the content filter truncated."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.CONTENT_FILTER else super().decide(turn)


@breaks("filtered-turn-runs-nothing")
class FilteredTurnsRun(RunsBehindTheFilter):
    """Runs the complete calls of a turn that the content filter truncated."""


@breaks("filtered-call-never-runs", collateral={"filtered-turn-runs-nothing": "a mended call runs"})
class FilteredCallsAreMended(RunsBehindTheFilter):
    """Completes a call that the content filter truncated by guessing, and runs it."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return _whole(turn.calls) if turn.stop is Stop.CONTENT_FILTER else super().calls_of(turn)


@breaks("refused-call-never-runs", cells=MESSAGES)
class RefusedCallsRun(Loop):
    """Runs the calls of a refused turn."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.REFUSAL else super().decide(turn)


@breaks("unknown-stop-reason-ends-the-loop", cells=MESSAGES)
class UnknownStopIsAPause(MessagesWire):
    """Asks the model to continue a turn with an unknown stop reason."""

    def stop_for(self, reason: str) -> Stop:
        stop = super().stop_for(reason)
        return Stop.PAUSE if stop is Stop.END and reason not in NAMED else stop


@breaks("stopped-turn-runs-nothing", cells=MESSAGES)
class UnknownStopRuns(MessagesWire):
    """Runs the calls of a turn with an unknown stop reason."""

    def stop_for(self, reason: str) -> Stop:
        stop = super().stop_for(reason)
        return Stop.CALLS if stop is Stop.END and reason not in NAMED else stop


@breaks("unfinished-response-runs-nothing", cells=RESPONSES)
class UnfinishedRuns(ResponsesWire):
    """Treats a response in progress as completed."""

    def decode(self, reply: Json) -> Turn:
        begun = reply.get("status") == "in_progress"
        return super().decode({**reply, "status": "completed"} if begun else reply)


@breaks("failed-response-runs-nothing", cells=RESPONSES)
class FailedRuns(ResponsesWire):
    """Treats a failed response with calls as completed."""

    def decode(self, reply: Json) -> Turn:
        calling = reply.get("status") == "failed" and any(item["type"] == "function_call" for item in reply["output"])
        return super().decode({**reply, "status": "completed", "error": None} if calling else reply)


@breaks("failed-response-is-told", cells=RESPONSES)
class FailureIsAnAnswer(ResponsesWire):
    """Returns the partial text of a failed response as the answer."""

    def decode(self, reply: Json) -> Turn:
        if reply.get("status") != "failed":
            return super().decode(reply)
        texts = [item for item in reply["output"] if item["type"] == "message"]
        return super().decode({**reply, "status": "completed", "error": None, "output": texts})


@breaks("custom-calls-are-not-lost", cells=RESPONSES)
class CustomCallsSkipped(ResponsesWire):
    """Ignores the calls of custom tools."""

    def decode(self, reply: Json) -> Turn:
        known = [item for item in reply.get("output") or () if item.get("type") != "custom_tool_call"]
        return super().decode({**reply, "output": known})


@breaks("lost-call-is-told")
class LostCallIsAnAnswer(Loop):
    """Returns the text of a turn whose calls were truncated as a complete answer."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER if turn.calls and turn.stop.truncated else super().decide(turn)

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, stop=Stop.END) if turn.calls and turn.stop.truncated else turn)


@breaks("truncated-answer-is-told")
class TruncationUntold(Loop):
    """Returns an answer that the token limit truncated as complete."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, stop=Stop.END) if turn.stop is Stop.LENGTH else turn)


@breaks("truncated-answer-is-told", cells=MESSAGES)
class FullWindowUntold(MessagesWire):
    """Takes an answer for complete that ended because the context window was full."""

    def stop_for(self, reason: str) -> Stop:
        return Stop.END if reason == "model_context_window_exceeded" else super().stop_for(reason)


@breaks(
    "told-stop-reason-fits",
    collateral={"truncated-answer-is-told": "a whole answer and one that was cut are told by the same reason"},
)
class WholeAnswersAreCut(Loop):
    """Tells its caller of every answer that the token limit cut it."""

    def stop(self, turn: Turn) -> Action:
        whole = self.agent.output is None and turn.stop is Stop.END
        return super().stop(replace(turn, stop=Stop.LENGTH) if whole else turn)


@breaks("filtered-answer-is-told")
class FilterUntold(Loop):
    """Returns an answer that the content filter truncated as complete."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, stop=Stop.END) if turn.stop is Stop.CONTENT_FILTER else turn)


@breaks("refused-answer-is-told", cells=MESSAGES)
class RefusalAfterWordsUntold(Loop):
    """Returns an answer that the service stopped as a refusal as complete, if it has any words."""

    def stop(self, turn: Turn) -> Action:
        halfway = turn.stop is Stop.REFUSAL and turn.text
        return super().stop(replace(turn, stop=Stop.END) if halfway else turn)


@breaks("text-before-calls-is-not-the-answer")
class CutTextLeads(Loop):
    """Goes on after a text that the token limit cut, and puts the text before whatever the answer is."""

    before = ""

    def decide(self, turn: Turn) -> Decision:
        if turn.stop is not Stop.LENGTH or turn.calls or not turn.text:
            return super().decide(turn)
        self.before += turn.text
        return Decision.RESUME

    def append_turn(self, turn: Turn) -> None:
        if turn.calls:
            return super().append_turn(turn)
        self.history += [{"role": "assistant", "content": turn.text}, {"role": "user", "content": "Go on."}]
        return None

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=self.before + turn.text))


@breaks(
    "refusal-is-told",
    collateral={"refusal-beside-an-empty-text-is-told": "whatever is beside a refusal"},
)
class RefusalUntold(Loop):
    """Returns a refusal as an empty answer."""

    def stop(self, turn: Turn) -> Action:
        refused = turn.stop is Stop.REFUSAL
        return super().stop(replace(turn, text="", stop=Stop.END) if refused else turn)


def _whole(calls: Sequence[ToolCall]) -> list[ToolCall]:
    return [replace(call, arguments=_mended(call.arguments)) for call in calls]


def _mended(text: str) -> str:
    """Valid arguments: unchanged, else completed, else empty."""
    for end in ("", '"}', "}"):
        try:
            json.loads(text + end)
        except ValueError:
            continue
        return text + end
    return "{}"
