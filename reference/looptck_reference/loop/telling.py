"""What is said: the steps of the loop that write its history, and what of it outlives the run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from looptck_reference.loop.calling import Calling
from looptck_reference.loop.conversation import Conversation
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from looptck_reference.wires.base import Wire

__all__ = ["Telling"]


class Telling(Calling):
    """The part of a loop that knows its history."""

    wire: Wire
    keep_rounds: int | None
    history: list[Json]
    round_ends: list[int]
    """The length of the history before the first round, and after each round."""
    carried: Json
    """What the model's turns have asked to be sent beside the history."""

    @property
    def conversation(self) -> Conversation:
        """The conversation as another run can go on with it, at any moment of this one."""
        instructions = self.wire.instructions(self.agent.messages)
        return Conversation(tuple(self.settled()), dict(self.carried), tuple(instructions))

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        """The caller's messages, in which each call without a result gets one behind those of its turn."""
        whole: list[Json] = []
        waiting: list[Json] = []
        for message in messages:
            answered = next((call for call in waiting if call["id"] == message.get("call_id")), None)
            if answered is not None:
                waiting.remove(answered)
            else:
                whole += map(self._not_run, waiting)
                waiting = list(message.get("calls", ()))
            whole.append(message)
        return [*whole, *map(self._not_run, waiting)]

    def _not_run(self, call: Json) -> Json:
        result = self.unanswered(ToolCall(call["id"], call["name"], json.dumps(call["arguments"])))
        return {"role": "tool", "call_id": result.call_id, "content": result.text, "failed": result.failed}

    def remembered(self) -> Sequence[Json]:
        """The part of the history that is sent: the prompt, and the rounds to keep.

        A round is a turn with calls and its results, with the paused turns before it. It is sent as a whole or not at
        all, so that no call loses its result. What was said in earlier runs belongs to the prompt.
        """
        if self.keep_rounds is None:
            return self.history
        prompt, first_kept = self.round_ends[0], max(0, len(self.round_ends) - 1 - self.keep_rounds)
        return self.history[:prompt] + self.history[self.round_ends[first_kept] :]

    def append_turn(self, turn: Turn) -> None:
        """Append the turn: the model must see its calls before their results, and a paused turn to continue it."""
        self.history += self.wire.echo(turn)

    def append_results(self, results: Sequence[ToolResult]) -> None:
        """Append one result for each call, in call order, with nothing between them."""
        self.history += self.wire.results(results)

    def append_answer(self, turn: Turn) -> None:
        """Append the turn that ended the run, for the runs that go on; its calls were not run, and are answered so.

        A turn with a call that cannot be answered is not kept.
        """
        if all(call.id and call.name for call in turn.calls) and (said := self.wire.answer(turn)):
            self.history += said
            if turn.calls:
                self.history += self.wire.results([self.unanswered(call) for call in turn.calls])
        self.round_ends.append(len(self.history))

    def settled(self) -> list[Json]:
        """The history in a state that the service accepts before a further question.

        Everything up to the last closed round stays, so the question of a failed run stays too, and so does an open
        round, if its turn called tools: results that were obtained, and a result for each call that has none. A paused
        turn that was not continued goes, because the service's own calls in it have no results.
        """
        if answers := self.repaired():
            return [*self.history, *self.wire.results(answers)]
        return self.history[: self.round_ends[-1]]

    def repaired(self) -> Sequence[ToolResult]:
        """A result for each call of the open round; none if no round is open."""
        raise NotImplementedError
