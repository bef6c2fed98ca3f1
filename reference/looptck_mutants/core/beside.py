"""Text beside calls taken for more or less than it is: the seams `decide`, `append_results` and `stop`, and a wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.actions import Action, Finish
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.loop.values import Answer, Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, ResponsesWire

HAVE_TEXT: Collateral = {
    ("conversations-are-carried-right", "recorded-traffic-is-read-right"): "a turn of theirs has text beside its calls"
}
SAID_BEFORE: Collateral = {
    **HAVE_TEXT,
    "loop-goes-on-until-the-model-answers": "the answer is judged there too",
    "missing-sequence-is-tolerated": "the recorded streams of one wire are judged by it",
}


@breaks(
    "text-before-calls-runs-the-calls",
    collateral={**HAVE_TEXT, "every-call-of-a-turn-runs": "a call beside text is a call"},
    cells=CHAT,
)
class CallBehindTextDropped(Loop):
    """Drops the one call of a turn that has text too, and asks again."""

    def drops(self, turn: Turn) -> bool:
        """On one wire, so that the pieces of other wires' turns need no care."""
        return isinstance(self.wire, ChatWire) and turn.text != "" and len(turn.calls) == 1

    def decide(self, turn: Turn) -> Decision:
        return Decision.RESUME if self.drops(turn) else super().decide(turn)

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if self.drops(turn):
            self.history[-1:] = [{"role": "assistant", "content": turn.text}]


@breaks("text-before-calls-is-not-the-answer", collateral=SAID_BEFORE, cells=CHAT)
class AllThatWasSaid(Loop):
    """Answers with the text beside calls too, and not of the last turn alone."""

    said = ""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.said += turn.text
        return super().calls_of(turn)

    def stop(self, turn: Turn) -> Action:
        return Finish(Answer(self.said + turn.text, turn.stop))


@breaks(
    "wires-agree",
    collateral={**SAID_BEFORE, "text-before-calls-is-not-the-answer": "on that wire it is the answer"},
    cells=CHAT,
)
class ResponsesSaysAll(AllThatWasSaid):
    """On one wire it answers with the text beside calls too."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(turn) if isinstance(self.wire, ResponsesWire) else Loop.stop(self, turn)


@breaks(
    "plain-and-stream-agree",
    collateral={"text-beside-calls-is-echoed": "where nothing is streamed, the text is lost"},
    cells=CHAT_STREAM,
)
class PlainTextBesideCallsDropped(ChatWire):
    """Drops the text beside calls where the turn was not streamed."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, text="") if turn.calls else turn


@breaks("conversations-are-carried-right", cells=CHAT)
class ResultsBesideTextExchanged(Loop):
    """Exchanges the results of a turn that has text beside its calls."""

    told = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.told = turn.text != ""
        return super().calls_of(turn)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        texts = [result.text for result in (reversed(results) if self.told else results)]
        super().append_results([replace(one, text=text) for one, text in zip(results, texts, strict=True)])
