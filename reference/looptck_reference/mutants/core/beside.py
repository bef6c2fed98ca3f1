"""Text beside calls taken for more or less than it is: the seams `decide`, `append_results` and `stop`, and a wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.actions import Action, Finish
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT, CHAT_STREAM, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.seams import Decision
from looptck_reference.values import Answer, Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, ResponsesWire

HAVE_TEXT = because(
    "a turn of theirs has text beside its calls", "conversations-are-carried-right", "recorded-traffic-is-read-right"
)
SAID_BEFORE = {
    **HAVE_TEXT,
    **because("the answer is judged there too", "loop-goes-on-until-the-model-answers"),
    **because("the recorded streams of one wire are judged by it", "missing-sequence-is-tolerated"),
}


class CallBehindTextDropped(Mutant):
    """Drops the one call of a turn that has text too, and asks again: `text-before-calls-runs-the-calls`."""

    breaks = ("text-before-calls-runs-the-calls",)
    also = HAVE_TEXT | because("a call beside text is a call", "every-call-of-a-turn-runs")
    cells = CHAT

    class loop(Loop):  # noqa: N801  the driver's attribute
        def drops(self, turn: Turn) -> bool:
            """On one wire, so that the pieces of other wires' turns need no care."""
            return isinstance(self.wire, ChatWire) and turn.text != "" and len(turn.calls) == 1

        def decide(self, turn: Turn) -> Decision:
            return Decision.RESUME if self.drops(turn) else super().decide(turn)

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if self.drops(turn):
                self.history[-1:] = [{"role": "assistant", "content": turn.text}]


class AllThatWasSaid(Mutant):
    """Answers with the text beside calls too, and not of the last turn alone: `text-before-calls-is-not-the-answer`."""

    breaks = ("text-before-calls-is-not-the-answer",)
    also = SAID_BEFORE
    cells = CHAT

    class loop(Loop):  # noqa: N801
        said = ""

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.said += turn.text
            return super().calls_of(turn)

        def stop(self, turn: Turn) -> Action:
            return Finish(Answer(self.said + turn.text, turn.stop))


class ResponsesSaysAll(Mutant):
    """On one wire it answers with the text beside calls too: `wires-agree`."""

    breaks = ("wires-agree",)
    also = SAID_BEFORE | because("on that wire it is the answer", "text-before-calls-is-not-the-answer")
    cells = CHAT

    class loop(AllThatWasSaid.loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(turn) if isinstance(self.wire, ResponsesWire) else Loop.stop(self, turn)


class PlainTextBesideCallsDropped(Mutant):
    """Drops the text beside calls where the turn was not streamed: `plain-and-stream-agree`."""

    breaks = ("plain-and-stream-agree",)
    also = because("where nothing is streamed, the text is lost", "text-beside-calls-is-echoed")
    cells = CHAT_STREAM

    class Chat(ChatWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            return replace(turn, text="") if turn.calls else turn

    wires = speaking(chat=Chat())


class ResultsBesideTextExchanged(Mutant):
    """Exchanges the results of a turn that has text beside its calls: `conversations-are-carried-right`."""

    breaks = ("conversations-are-carried-right",)
    cells = CHAT

    class loop(Loop):  # noqa: N801
        told = False

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.told = turn.text != ""
            return super().calls_of(turn)

        def append_results(self, results: Sequence[ToolResult]) -> None:
            texts = [result.text for result in (reversed(results) if self.told else results)]
            super().append_results([replace(one, text=text) for one, text in zip(results, texts, strict=True)])
