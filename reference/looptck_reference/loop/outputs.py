"""The output: the value of a schema that ends a run in place of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from looptck_reference.loop.rounds import Rounds
from looptck_reference.vocabulary.actions import Action, Fail, Finish
from looptck_reference.vocabulary.errors import BadOutput, Refused, TurnCut
from looptck_reference.vocabulary.values import Answer, Json, Stop, Turn

if TYPE_CHECKING:
    from looptck_reference.vocabulary.output import Output

__all__ = ["Outputs"]


class Outputs(Rounds):
    """The part of a loop that reads outputs, and asks for them again where they do not fit."""

    asks_again = 2
    """How often the model is asked again."""
    usage: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.bad_outputs = 0

    def give(self, turn: Turn, output: Output) -> Action:
        """The consequence of a turn without calls: its output, another request for one, or the failure of the run."""
        if turn.stop is Stop.REFUSAL:
            return Fail(Refused(f"the model declined to give the output: {turn.text}"), Refused.reason)
        if turn.stop.truncated:
            return Fail(TurnCut(f"the output was truncated ({turn.stop})"), TurnCut.reason)
        try:
            value = self.read_output(turn, output)
        except BadOutput as error:
            return self.refuse_output(turn, error)
        return Finish(Answer(turn.text, Stop.END, tuple(self.usage), turn.calls, value))

    def read_output(self, turn: Turn, output: Output) -> Any:
        """The value of the turn's text; see `Output.read`."""
        return output.read(turn.text)

    def refuse_output(self, turn: Turn, error: BadOutput) -> Action:
        """Ask again, and tell the model what is wrong; fail once that was done often enough."""
        if self.bad_outputs == self.asks_again:
            return Fail(error, error.reason)
        self.bad_outputs += 1
        self.history += [*self.wire.answer(turn), *self.complaint(turn, error)]
        return self.ask()

    def complaint(self, turn: Turn, error: BadOutput) -> Sequence[Json]:
        """What the model is told about an output that does not fit."""
        return self.wire.opening(
            [{"role": "user", "content": f"{error}\n\nAnswer with JSON that fits it, and nothing else."}]
        )
