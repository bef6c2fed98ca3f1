"""Paused turns: their consequence, and whether they count against the limit."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Stop, Turn
from looptck_reference.wires import MessagesWire


@breaks("paused-turn-is-resumed", cells=MESSAGES)
class PauseIsTheEnd(MessagesWire):
    """Returns the text of a paused turn as the answer."""

    def stop_for(self, reason: str) -> Stop:
        return Stop.END if reason == "pause_turn" else super().stop_for(reason)


@breaks("paused-turn-is-resumed", cells=MESSAGES)
class PauseIsNudged(MessagesWire):
    """Sends a user message to continue a paused turn whose last block awaits its result."""

    def echo(self, turn: Turn) -> list[Json]:
        waits = not turn.calls and turn.content and turn.content[-1]["type"] == "server_tool_use"
        return [*super().echo(turn), *([{"role": "user", "content": "Go on."}] if waits else ())]


@breaks("pauses-are-finite", cells=MESSAGES)
class PausesAreFree(Loop):
    """Does not count model calls that ended in a pause."""

    def decide(self, turn: Turn) -> Decision:
        decision = super().decide(turn)
        self.model_calls -= decision is Decision.RESUME
        return decision


@breaks("compacted-turn-is-resumed", cells=MESSAGES)
class CompactionIsTheEnd(MessagesWire):
    """Returns the summary of a compacted turn as the answer."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        asked = {"type": "compact_20260112", "pause_after_compaction": True}
        return {**super().request(agent, history, stream=stream), "context_management": {"edits": [asked]}}

    def stop_for(self, reason: str) -> Stop:
        return Stop.END if reason == "compaction" else super().stop_for(reason)
