"""The meaning of stop reasons: the seam `decide`, and `MessagesWire.turn`, which sees the original reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks, speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.values import Json, Stop, Turn
from looptck_reference.wires import MessagesWire
from looptck_reference.wires.anthropic_messages import STOPS

KNOWN = {*STOPS, "end_turn", "stop_sequence"}


class CallsWhere(MessagesWire):
    """Keeps the calls of an ended turn only for some stop reasons."""

    def __init__(self, is_one: Callable[[str], bool]) -> None:
        self.is_one = is_one

    def turn(
        self, blocks: Sequence[Json], stop_reason: str, usage: Mapping[str, Any] | None, written: Mapping[int, str]
    ) -> Turn:
        """The turn; without its calls if it ended for another reason."""
        turn = super().turn(blocks, stop_reason, usage, written)
        return turn if turn.stop is not Stop.END or self.is_one(stop_reason) else replace(turn, calls=())


class RunsAndEnds(Loop):
    """Runs the calls of an ended turn, and still returns its text as the answer."""

    ended: Turn | None = None

    def decide(self, turn: Turn) -> Decision:
        """Run the calls of an ended turn too."""
        if turn.calls and turn.stop is Stop.END:
            self.ended = turn
            return Decision.RUN
        return super().decide(turn)

    def ask(self) -> Action:
        return super().ask() if self.ended is None else self.stop(self.ended)


@breaks("claude-ended-turn-runs-nothing", cells=MESSAGES)
class EndedCallsRun(Driver):
    """Runs the calls of a turn that stops with end_turn."""

    loop = RunsAndEnds
    wires = speaking(messages=CallsWhere(lambda reason: reason == "end_turn"))


@breaks("claude-stop-sequence-runs-nothing", cells=MESSAGES)
class SequenceCallsRun(Driver):
    """Runs the calls of a turn that stops with stop_sequence."""

    loop = RunsAndEnds
    wires = speaking(messages=CallsWhere(lambda reason: reason == "stop_sequence"))


@breaks("claude-unknown-stop-reason-runs-nothing", cells=MESSAGES)
class UnknownStopCallsRun(Driver):
    """Runs the calls of a turn with an unknown stop reason."""

    loop = RunsAndEnds
    wires = speaking(messages=CallsWhere(lambda reason: reason not in KNOWN))


@breaks("claude-unknown-stop-reason-ends-the-loop", cells=MESSAGES)
class UnknownStopGoesOn(MessagesWire):
    """Treats an unknown stop reason as a pause."""

    def stop_for(self, reason: str) -> Stop:
        return super().stop_for(reason) if reason in KNOWN else Stop.PAUSE


@breaks("claude-truncated-turn-runs-nothing", cells=MESSAGES)
class TruncatedCallsRun(Loop):
    """Runs the calls of a turn that the token limit truncated."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)


@breaks("claude-refused-turn-runs-nothing", cells=MESSAGES)
class RefusalCallsRun(Loop):
    """Runs the calls of a refused turn."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.calls and turn.stop is Stop.REFUSAL else super().decide(turn)


@breaks("claude-nothing-empty-is-sent", cells=MESSAGES)
class NobodyAnswered(Loop):
    """Sends an empty user message after a turn that announced calls and has none."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.RUN if turn.stop is Stop.CALLS else super().decide(turn)
