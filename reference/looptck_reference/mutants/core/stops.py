"""Turns that stopped for another reason than to be acted upon: `decide`, `stop`, and how wires read the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.actions import Action
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, MESSAGES_STREAM, RESPONSES, Mutant
from looptck_reference.mutants.speaking import speaking, streaming
from looptck_reference.seams import Decision
from looptck_reference.values import Json, Stop, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesStream, MessagesWire, ResponsesWire

NAMED = {"end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "pause_turn"}
"""The stop reasons of Anthropic Messages that a client of some age knows."""


class WordDecides(Mutant):
    """Runs no calls of a turn that finished with stop: `calls-decide-not-the-finish-reason`."""

    breaks = ("calls-decide-not-the-finish-reason",)

    class Wire(ChatWire):
        runs_calls_on = frozenset({Stop.CALLS})

    wires = speaking(chat=Wire())


class RunsAtTheLimit(Loop):
    """Runs the calls of a turn that the token limit or the context window cut, those of them that can be read."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)


class CutCallsAreMended(Mutant):
    """Writes the rest of a call that was cut, and runs it: `truncated-call-never-runs`."""

    breaks = ("truncated-call-never-runs",)

    class loop(RunsAtTheLimit):  # noqa: N801  the driver's attribute
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            if turn.stop is not Stop.LENGTH:
                return super().calls_of(turn)
            return [replace(call, arguments=_mended(call.arguments)) for call in turn.calls]


class CutTurnsRun(Mutant):
    """Runs the whole calls of a turn that was cut: `truncated-turn-runs-nothing`."""

    breaks = ("truncated-turn-runs-nothing",)
    cells = MESSAGES
    loop = RunsAtTheLimit


class IncompleteCallsRun(Mutant):
    """Runs a call that the service calls incomplete, as soon as it can be read: `incomplete-call-never-runs`."""

    breaks = ("incomplete-call-never-runs",)
    cells = RESPONSES
    loop = RunsAtTheLimit


class UnstoppedBlockRuns(Mutant):
    """Writes the end of a call whose block never stopped, and runs it: `unstopped-block-never-runs`."""

    breaks = ("unstopped-block-never-runs",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
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

    wires = streaming(messages=Stream)


class FilteredCallsRun(Mutant):
    """Runs the calls of a turn that the content filter cut: `filtered-call-never-runs`."""

    breaks = ("filtered-call-never-runs",)

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.CONTENT_FILTER else super().decide(turn)


class RefusedCallsRun(Mutant):
    """Runs the calls of a turn that the service refused: `refused-call-never-runs`."""

    breaks = ("refused-call-never-runs",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.REFUSAL else super().decide(turn)


class StoppedCallsRun(Mutant):
    """Runs the calls of a turn that a stop sequence ended: `stopped-turn-runs-nothing`."""

    breaks = ("stopped-turn-runs-nothing",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def stop_for(self, reason: str) -> Stop:
            return Stop.CALLS if reason == "stop_sequence" else super().stop_for(reason)

    wires = speaking(messages=Wire())


class UnknownStopRuns(Mutant):
    """Runs the calls of a turn that stopped for a reason it does not know: `unknown-stop-reason-ends-the-loop`."""

    breaks = ("unknown-stop-reason-ends-the-loop",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def stop_for(self, reason: str) -> Stop:
            stop = super().stop_for(reason)
            return Stop.CALLS if stop is Stop.END and reason not in NAMED else stop

    wires = speaking(messages=Wire())


class UnfinishedRuns(Mutant):
    """Takes a response that is in progress for a completed one: `unfinished-response-runs-nothing`."""

    breaks = ("unfinished-response-runs-nothing",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def decode(self, reply: Json) -> Turn:
            begun = reply.get("status") == "in_progress"
            return super().decode({**reply, "status": "completed"} if begun else reply)

    wires = speaking(responses=Wire())


class FailedRuns(Mutant):
    """Takes a failed response that has calls for a completed one: `failed-response-runs-nothing`."""

    breaks = ("failed-response-runs-nothing",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def decode(self, reply: Json) -> Turn:
            calling = reply.get("status") == "failed" and any(
                item["type"] == "function_call" for item in reply["output"]
            )
            return super().decode({**reply, "status": "completed", "error": None} if calling else reply)

    wires = speaking(responses=Wire())


class FailureIsAnAnswer(Mutant):
    """Returns what there is of a response that failed: `failed-response-is-told`."""

    breaks = ("failed-response-is-told",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def decode(self, reply: Json) -> Turn:
            if reply.get("status") != "failed":
                return super().decode(reply)
            texts = [item for item in reply["output"] if item["type"] == "message"]
            return super().decode({**reply, "status": "completed", "error": None, "output": texts})

    wires = speaking(responses=Wire())


class CustomCallsSkipped(Mutant):
    """Reads over the calls of custom tools: `custom-calls-are-not-lost`."""

    breaks = ("custom-calls-are-not-lost",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def decode(self, reply: Json) -> Turn:
            known = [item for item in reply.get("output") or () if item.get("type") != "custom_tool_call"]
            return super().decode({**reply, "output": known})

    wires = speaking(responses=Wire())


class LostCallIsAnAnswer(Mutant):
    """Returns the text of a turn that was cut in its calls as a whole answer: `lost-call-is-told`."""

    breaks = ("lost-call-is-told",)

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.calls and turn.stop.cut else super().decide(turn)

        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, stop=Stop.END) if turn.calls and turn.stop.cut else turn)


class TruncationUntold(Mutant):
    """Says of an answer that the token limit cut that it is whole: `truncated-answer-is-told`."""

    breaks = ("truncated-answer-is-told",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, stop=Stop.END) if turn.stop is Stop.LENGTH else turn)


class FilterUntold(Mutant):
    """Says of an answer that the content filter cut that it is whole: `filtered-answer-is-told`."""

    breaks = ("filtered-answer-is-told",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, stop=Stop.END) if turn.stop is Stop.CONTENT_FILTER else turn)


class RefusalUntold(Mutant):
    """Returns a refusal as an answer of no words: `refusal-is-told`."""

    breaks = ("refusal-is-told",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            refused = turn.stop is Stop.REFUSAL
            return super().stop(replace(turn, text="", stop=Stop.END) if refused else turn)


def _mended(text: str) -> str:
    """Arguments that can be read: as they are, else with an end, else none."""
    for end in ("", '"}', "}"):
        try:
            json.loads(text + end)
        except ValueError:
            continue
        return text + end
    return "{}"
