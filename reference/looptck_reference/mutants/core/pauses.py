"""Turns that the service paused: what they lead to, and whether they count."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.seams import Decision
from looptck_reference.values import Json, Stop, Turn
from looptck_reference.wires import MessagesWire


class PauseIsTheEnd(Mutant):
    """Takes the text of a paused turn for the answer: `paused-turn-is-resumed`."""

    breaks = ("paused-turn-is-resumed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def stop_for(self, reason: str) -> Stop:
            return Stop.END if reason == "pause_turn" else super().stop_for(reason)

    wires = speaking(messages=Wire())


class PauseIsNudged(Mutant):
    """Tells the model to go on where the last block of a paused turn waits for its result: `paused-turn-is-resumed`."""

    breaks = ("paused-turn-is-resumed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            waits = not turn.calls and turn.content and turn.content[-1]["type"] == "server_tool_use"
            return [*super().echo(turn), *([{"role": "user", "content": "Go on."}] if waits else ())]

    wires = speaking(messages=Wire())


class PausesAreFree(Mutant):
    """Does not count the calls of the model that ended in a pause: `pauses-are-finite`."""

    breaks = ("pauses-are-finite",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            decision = super().decide(turn)
            self.model_calls -= decision is Decision.RESUME
            return decision


class CompactionIsTheEnd(Mutant):
    """Takes the summary of a compacted turn for the answer: `compacted-turn-is-resumed`."""

    breaks = ("compacted-turn-is-resumed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            asked = {"type": "compact_20260112", "pause_after_compaction": True}
            return {**super().request(agent, history, stream=stream), "context_management": {"edits": [asked]}}

        def stop_for(self, reason: str) -> Stop:
            return Stop.END if reason == "compaction" else super().stop_for(reason)

    wires = speaking(messages=Wire())
