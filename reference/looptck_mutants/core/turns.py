"""Misinterpreted turns, and calls that run too often or not at all: the seams `decide` and `calls_of`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Answer, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire

TEXT = {"text", "message"}
"""The types of blocks and items that hold text."""


@breaks("answer-without-calls-ends-the-loop", cells=MESSAGES)
class MarkupIsNoAnswer(MessagesWire):
    """Asks the model again if the text of an answer looks like a call."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, stop=Stop.PAUSE) if "<tool_call>" in turn.text else turn


@breaks("final-text-is-returned", cells=MESSAGES)
class MarkupTakenOut(MessagesWire):
    """Removes text that looks like the tags of a call from an answer."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, text=re.sub("</?tool_call>", "", turn.text))


@breaks("empty-answer-ends-the-loop")
class EmptyIsNeverEnough(Loop):
    """Asks for an answer after every empty one, as often as it takes."""

    def stop(self, turn: Turn) -> Action:
        if turn.text or turn.calls or turn.stop is not Stop.END:
            return super().stop(turn)
        self.history += self.wire.opening([{"role": "user", "content": "Please answer."}])
        self.model_calls -= 1
        return self.ask()


@breaks("no-calls-in-any-spelling")
class EmptyListCalls(ChatWire):
    """Treats an empty list of calls as calls."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        none = reply["choices"][0]["message"].get("tool_calls") == []
        return replace(turn, stop=Stop.PAUSE) if none else turn


@breaks("announced-calls-that-never-come-end-the-loop")
class AnnouncedIsCalled(Loop):
    """Asks the model again after a turn that announced calls and has none."""

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
        ): "its check also counts the runs of such a call"
    },
)
class RunsTwice(Loop):
    """Runs a call without arguments twice if it is the only one of its turn."""

    twice = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.twice = [call.arguments for call in turn.calls] == ["{}"]
        return turn.calls * (1 + self.twice)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[: 1 if self.twice else None])


@breaks("every-call-of-a-turn-runs")
class TalkersRunOne(Loop):
    """Runs only one call of a turn with text, and answers the others with an error."""

    others: Sequence[ToolCall] = ()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.others = turn.calls[1:] if turn.text else ()
        return turn.calls

    def handler_for(self, call: ToolCall) -> Handler | None:
        return None if call in self.others else super().handler_for(call)


@breaks("loop-goes-on-until-the-model-answers", cells=MESSAGES)
class LastWordIsTheAnswer(Loop):
    """Ends after a round whose turn had text after its calls."""

    last = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        speaks = turn.calls and any(piece["type"] in TEXT for piece in turn.content[-1:])
        self.last = turn.text if speaks else ""

    def ask(self) -> Action:
        return Finish(Answer(self.last)) if self.last else super().ask()


@breaks("twin-ids-lose-nothing")
class OneResultForEachId(Loop):
    """Keeps the results of a turn by the ids of their calls, so that one of two with the same id is lost."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([*{result.call_id: result for result in results}.values()])


@breaks("twin-ids-lose-nothing")
class OneCallForEachId(Loop):
    """Keeps only the last of the calls that share an id."""

    def model_answered(self, turn: Turn) -> Action:
        by_id = {call.id: call for call in turn.calls}
        return super().model_answered(replace(turn, calls=tuple(by_id.values())))
