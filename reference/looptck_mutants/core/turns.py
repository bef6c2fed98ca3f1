"""Turns taken for what they are not, and calls that run too often or not at all: the seams `decide` and `calls_of`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.actions import Action, Finish
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.loop.tools import Handler
from looptck_reference.loop.values import Answer, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire

TEXT = {"text", "message"}
"""The kinds of pieces that hold text: a block of one wire, an item of another."""


@breaks("answer-without-calls-ends-the-loop", cells=MESSAGES)
class MarkupIsNoAnswer(MessagesWire):
    """Asks again when the text of an answer looks like a call."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, stop=Stop.PAUSE) if "<tool_call>" in turn.text else turn


@breaks("final-text-is-returned", cells=MESSAGES)
class MarkupTakenOut(MessagesWire):
    """Takes what looks like the tags of a call out of an answer."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, text=re.sub("</?tool_call>", "", turn.text))


@breaks("empty-answer-ends-the-loop")
class NullIsNoAnswer(ChatWire):
    """Asks again when the content of an answer is null."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        null = reply["choices"][0]["message"].get("content") is None
        return replace(turn, stop=Stop.PAUSE) if null and not turn.calls and turn.stop is Stop.END else turn


@breaks("no-calls-in-any-spelling")
class EmptyListCalls(ChatWire):
    """Takes a list of calls for calls, though it is empty."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        none = reply["choices"][0]["message"].get("tool_calls") == []
        return replace(turn, stop=Stop.PAUSE) if none else turn


@breaks("announced-calls-that-never-come-end-the-loop")
class AnnouncedIsCalled(Loop):
    """Asks again after a turn that announced calls and had none."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.stop is Stop.CALLS and not turn.calls else super().decide(turn)


@breaks(
    "call-runs-its-tool-once",
    collateral={
        (
            "arguments-arrive-whatever-their-shape",
            "empty-arguments-are-an-empty-object",
            "loop-goes-on-until-the-model-answers",
            "missing-sequence-is-tolerated",
            "no-argument-delta-is-an-empty-object",
            "recorded-traffic-is-read-right",
        ): "its check counts the runs of such a call too"
    },
)
class RunsTwice(Loop):
    """Runs a call without arguments twice, where it is alone in its turn."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.twice = [call.arguments for call in turn.calls] == ["{}"]
        return turn.calls * (1 + self.twice)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[: 1 if self.twice else None])


@breaks("every-call-of-a-turn-runs")
class TalkersRunOne(Loop):
    """Runs one call of a turn with text, and answers the others with an error."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.known = turn.calls[:1] if turn.text else turn.calls
        return turn.calls

    def handler_for(self, call: ToolCall) -> Handler | None:
        return super().handler_for(call) if call in self.known else None


@breaks("loop-goes-on-until-the-model-answers", cells=MESSAGES)
class LastWordIsTheAnswer(Loop):
    """Ends behind a round whose turn had text after its calls."""

    last = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        speaks = turn.calls and any(piece["type"] in TEXT for piece in turn.content[-1:])
        self.last = turn.text if speaks else ""

    def ask(self) -> Action:
        return Finish(Answer(self.last)) if self.last else super().ask()


@breaks("twin-ids-lose-nothing")
class OneCallForEachId(Loop):
    """Knows the last of the calls that share an id."""

    def model_answered(self, turn: Turn) -> Action:
        by_id = {call.id: call for call in turn.calls}
        return super().model_answered(replace(turn, calls=tuple(by_id.values())))
