"""Turns taken for what they are not, and calls that run too often or not at all: the seams `decide` and `calls_of`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.actions import Action, Finish
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.seams import Decision
from looptck_reference.tools import Handler
from looptck_reference.values import Answer, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire

TEXT = {"text", "message"}
"""The kinds of pieces that hold text: a block of one wire, an item of another."""


class MarkupIsNoAnswer(Mutant):
    """Asks again when the text of an answer looks like a call: `answer-without-calls-ends-the-loop`."""

    breaks = ("answer-without-calls-ends-the-loop",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            return replace(turn, stop=Stop.PAUSE) if "<tool_call>" in turn.text else turn

    wires = speaking(messages=Wire())


class MarkupTakenOut(Mutant):
    """Takes what looks like the tags of a call out of an answer: `final-text-is-returned`."""

    breaks = ("final-text-is-returned",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            return replace(turn, text=re.sub("</?tool_call>", "", turn.text))

    wires = speaking(messages=Wire())


class NullIsNoAnswer(Mutant):
    """Asks again when the content of an answer is null: `empty-answer-ends-the-loop`."""

    breaks = ("empty-answer-ends-the-loop",)

    class Wire(ChatWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            null = reply["choices"][0]["message"].get("content") is None
            return replace(turn, stop=Stop.PAUSE) if null and not turn.calls and turn.stop is Stop.END else turn

    wires = speaking(chat=Wire())


class EmptyListCalls(Mutant):
    """Takes a list of calls for calls, though it is empty: `no-calls-in-any-spelling`."""

    breaks = ("no-calls-in-any-spelling",)

    class Wire(ChatWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            none = reply["choices"][0]["message"].get("tool_calls") == []
            return replace(turn, stop=Stop.PAUSE) if none else turn

    wires = speaking(chat=Wire())


class AnnouncedIsCalled(Mutant):
    """Asks again after a turn that announced calls and had none: `announced-calls-that-never-come-end-the-loop`."""

    breaks = ("announced-calls-that-never-come-end-the-loop",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.stop is Stop.CALLS and not turn.calls else super().decide(turn)


class RunsTwice(Mutant):
    """Runs a call without arguments twice, where it is alone in its turn: `call-runs-its-tool-once`."""

    breaks = ("call-runs-its-tool-once",)
    also = because(
        "its check counts the runs of such a call too",
        "arguments-arrive-whatever-their-shape",
        "empty-arguments-are-an-empty-object",
        "loop-goes-on-until-the-model-answers",
        "missing-sequence-is-tolerated",
        "no-argument-delta-is-an-empty-object",
        "recorded-traffic-is-read-right",
    )

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.twice = [call.arguments for call in turn.calls] == ["{}"]
            return turn.calls * (1 + self.twice)

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[: 1 if self.twice else None])


class TalkersRunOne(Mutant):
    """Runs one call of a turn with text, and answers the others with an error: `every-call-of-a-turn-runs`."""

    breaks = ("every-call-of-a-turn-runs",)

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.known = turn.calls[:1] if turn.text else turn.calls
            return turn.calls

        def handler_for(self, call: ToolCall) -> Handler | None:
            return super().handler_for(call) if call in self.known else None


class LastWordIsTheAnswer(Mutant):
    """Ends behind a round whose turn had text after its calls: `loop-goes-on-until-the-model-answers`."""

    breaks = ("loop-goes-on-until-the-model-answers",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        last = ""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            speaks = turn.calls and any(piece["type"] in TEXT for piece in turn.content[-1:])
            self.last = turn.text if speaks else ""

        def _ask(self) -> Action:
            return Finish(Answer(self.last)) if self.last else super()._ask()


class OneCallForEachId(Mutant):
    """Knows the last of the calls that share an id: `twin-ids-lose-nothing`."""

    breaks = ("twin-ids-lose-nothing",)

    class loop(Loop):  # noqa: N801
        def model_answered(self, turn: Turn) -> Action:
            by_id = {call.id: call for call in turn.calls}
            return super().model_answered(replace(turn, calls=tuple(by_id.values())))
