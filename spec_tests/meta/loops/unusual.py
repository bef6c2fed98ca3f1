"""Loops that are correct but unusual: a check that fails one of them is wrong."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from looptck_mutants.core.memory import Leaning, Retelling
from looptck_mutants.parts import asking, streaming
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.values import Answer, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ANTHROPIC_MESSAGES, ResponsesStream
from meta.loops.declaring import without_talking


class Unordered(Driver):
    """Runs the calls of every second turn in reverse order, as may happen with concurrent calls."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        turns = itertools.count()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            calls = super().calls_of(turn)
            self.order = [call.id for call in calls]
            return calls[::-1] if next(self.turns) % 2 else calls

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(sorted(results, key=lambda result: self.order.index(result.call_id)))

    def start(self) -> Json:
        """The description, without what needs an order over several runs."""
        return without_talking(super().start())


class BadCallsHandedBack(Driver):
    """Ends at a turn with an invalid call, and returns the calls that it did not run to its caller."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return super().decide(turn) if all(map(_reads, turn.calls)) else Decision.ANSWER

        def stop(self, turn: Turn) -> Action:
            return super().stop(turn) if all(map(_reads, turn.calls)) else Finish(Answer(turn.text, Stop.CALLS))


class FifteenDigits(Driver):
    """Writes a fraction with fifteen digits, as Perl does."""

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            super().parse_arguments(text)
            return dict(json.loads(text or "{}", parse_float=lambda digits: float(f"{float(digits):.15g}")))


class InThreadsSentAgain(Leaning):
    """Relies on the service's state of the conversation, and sends it all again if it is lost."""

    invoker = asking(Retelling)


class WordByWord(Driver):
    """Hands on whole words of a stream, each with the blank behind it, and the last one at the end of the run."""

    def run(self, case: Json, emit: Any) -> Json:
        """Keep the beginning of a word until its end has come."""
        begun = ""

        def hand_on(text: Any) -> None:
            nonlocal begun
            if not isinstance(text, str):
                return
            *whole, begun = re.split(r"(?<=\s)(?=\S)", begun + text)
            for word in whole:
                emit(word)

        outcome = super().run(case, hand_on)
        if begun:
            emit(begun)
        return outcome


class RemembersElsewhere(Driver):
    """Declares the capability for a wire that is not among the judged ones."""

    def start(self) -> Json:
        """The description, with the capability."""
        started = super().start()
        return {**started, "capabilities": {**started["capabilities"], "memory": True}}


class RemembersNowhere(RemembersElsewhere):
    """The same of a driver whose only wire that would be."""

    wires: ClassVar = {"anthropic-messages": ANTHROPIC_MESSAGES}


class ItemsByIndex(Driver):
    """Identifies items of a stream only by their `output_index`, which the vendor always sends."""

    class Stream(ResponsesStream):
        indexed = True

        def begin(self, event: Json) -> None:
            self.indexed = self.indexed and "output_index" in event
            super().begin(event)

        def output(self) -> Any:
            items = super().output()
            return items if self.indexed else [{**item, "id": items[-1]["id"]} for item in items]

    wires = streaming(responses=Stream)


def _reads(call: ToolCall) -> bool:
    """Whether the arguments are a JSON object or empty."""
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except ValueError:
        return False
