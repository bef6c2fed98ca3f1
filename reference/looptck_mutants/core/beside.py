"""Text in turns with calls, treated in a wrong way: the seams `decide`, `append_results` and `stop`, and a wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.values import Answer, Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, ResponsesWire

HAVE_TEXT: Collateral = {
    ("conversations-are-carried-right", "recorded-traffic-is-read-right"): "they contain a turn with text and calls"
}
SAID_BEFORE: Collateral = {
    **HAVE_TEXT,
    "loop-goes-on-until-the-model-answers": "this requirement checks the answer too",
    "missing-sequence-is-tolerated": "it checks recorded streams of one wire too",
}


@breaks(
    "text-before-calls-runs-the-calls",
    collateral={**HAVE_TEXT, "every-call-of-a-turn-runs": "a call in a turn with text is a call too"},
    cells=CHAT,
)
class CallBehindTextDropped(Loop):
    """Drops the only call of a turn that has text too, and asks the model again."""

    def drops(self, turn: Turn) -> bool:
        """Whether the call is dropped; only on one wire, to keep the mutant simple."""
        return isinstance(self.wire, ChatWire) and turn.text != "" and len(turn.calls) == 1

    def decide(self, turn: Turn) -> Decision:
        return Decision.RESUME if self.drops(turn) else super().decide(turn)

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if self.drops(turn):
            self.history[-1:] = [{"role": "assistant", "content": turn.text}]


@breaks("text-before-calls-is-not-the-answer", collateral=SAID_BEFORE, cells=CHAT)
class AllThatWasSaid(Loop):
    """Returns the text of turns with calls as part of the answer."""

    said = ""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.said += turn.text
        return super().calls_of(turn)

    def stop(self, turn: Turn) -> Action:
        return Finish(Answer(self.said + turn.text, turn.stop))


@breaks(
    "wires-agree",
    collateral={**SAID_BEFORE, "text-before-calls-is-not-the-answer": "on that wire the answer includes this text"},
    cells=CHAT,
)
class ResponsesSaysAll(AllThatWasSaid):
    """Returns, on one wire only, the text of turns with calls as part of the answer."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(turn) if isinstance(self.wire, ResponsesWire) else Loop.stop(self, turn)


@breaks(
    "plain-and-stream-agree",
    collateral={"text-beside-calls-is-echoed": "the text is lost if the reply is not streamed"},
    cells=CHAT_STREAM,
)
class PlainTextBesideCallsDropped(ChatWire):
    """Drops the text of a turn with calls if the reply is not streamed."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        return replace(turn, text="") if turn.calls else turn


@breaks(
    "conversations-are-carried-right",
    collateral={"suspended-state-travels": "results beside a text are exchanged there too"},
    cells=CHAT,
)
class ResultsBesideTextExchanged(Loop):
    """Swaps the results of a turn that has text and calls."""

    has_text = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.has_text = turn.text != ""
        return super().calls_of(turn)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        texts = [result.text for result in (reversed(results) if self.has_text else results)]
        super().append_results([replace(one, text=text) for one, text in zip(results, texts, strict=True)])
