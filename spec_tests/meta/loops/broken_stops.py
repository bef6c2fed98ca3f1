"""Broken loops that take a turn for what it is not: half a turn for a whole one, a pause for an answer."""

from __future__ import annotations

import json

from looptck_reference.actions import Action, Finish
from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.seams import Decision
from looptck_reference.values import Answer, Stop, ToolCall, Turn
from looptck_reference.wires import ResponsesWire


class CutCallsRun(Driver):
    """Runs the calls of a turn that the token limit or the context window cut: `truncated-call-never-runs`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)


class FilteredCallsRun(Driver):
    """Runs the calls of a turn that the content filter cut: `filtered-call-never-runs`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.CONTENT_FILTER else super().decide(turn)


class RefusedCallsRun(Driver):
    """Runs the calls of a turn that the service refused: `refused-call-never-runs`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.REFUSAL else super().decide(turn)


class BadCallsDropped(Driver):
    """Takes a turn with a call that it cannot read for the answer: `bad-arguments-are-not-lost`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return super().decide(turn) if all(map(_reads, turn.calls)) else Decision.ANSWER


class BadCallsHandedBack(BadCallsDropped):
    """Not broken: it tells its caller that there are calls which it did not run."""

    class loop(BadCallsDropped.loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(turn) if all(map(_reads, turn.calls)) else Finish(Answer(turn.text, Stop.CALLS))


class PauseIsTheEnd(Driver):
    """Takes the text of a paused turn for the answer: `paused-turn-is-resumed`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


class AllThatWasSaid(Driver):
    """On one wire it answers with the text of every turn, the last first of all others: `wires-agree`."""

    class loop(Loop):  # noqa: N801
        said = ""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.said += turn.text

        def stop(self, turn: Turn) -> Action:
            if isinstance(self.wire, ResponsesWire):
                return Finish(Answer(self.said + turn.text, turn.stop))
            return super().stop(turn)


def _reads(call: ToolCall) -> bool:
    """Whether the arguments are a JSON object, or nothing."""
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except ValueError:
        return False
