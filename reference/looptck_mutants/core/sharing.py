"""Agents that are shared by several runs, and keep something of one for another."""

from __future__ import annotations

from typing import Any, ClassVar

from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn


@breaks("shared-agent-runs-apart", cells=CHAT)
class AgentsRemember(Loop):
    """Begins a run with what the agent object has said in its last one."""

    said: ClassVar[dict[int, tuple[Agent, Conversation]]] = {}
    """By the identity of the agent, which is kept with it."""

    def __init__(self, agent: Agent, *, conversation: Conversation | None = None, **options: Any) -> None:
        _, before = self.said.get(id(agent), (agent, None))
        super().__init__(agent, conversation=conversation or before, **options)
        self._shared = agent

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        self.said[id(self._shared)] = self._shared, self.conversation


@breaks(
    "shared-agent-runs-apart",
    cells=CHAT_STREAM,
    collateral={"events-of-a-run-are-its-own": "events reach the same callers as texts"},
)
class SharedCallbackHears(Driver):
    """Hands the texts of all runs of a shared agent to the caller of the latest."""

    hears: OnText

    def run(self, case: Json, emit: OnText) -> Json:
        return super().run(case, self._shared(case, emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return await super().run_async(case, self._shared(case, emit))

    def _shared(self, case: Json, emit: OnText) -> OnText:
        if "shared" not in case:
            return emit
        self.hears = emit

        def hand_on(text: str) -> None:
            self.hears(text)

        return hand_on


@breaks(
    "shared-agent-runs-apart",
    cells=CHAT_STREAM,
    collateral={"events-of-a-run-are-its-own": "events reach the same callers as texts"},
)
class SharedCallbackStays(Driver):
    """Hands text to a caller only in the first run of a shared agent, and later to nobody."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[str] = set()

    def run(self, case: Json, emit: OnText) -> Json:
        return super().run(case, self._first(case, emit))

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return await super().run_async(case, self._first(case, emit))

    def _first(self, case: Json, emit: OnText) -> OnText:
        shared = case.get("shared")
        if shared in self._known:
            return lambda _: None
        if shared is not None:
            self._known.add(shared)
        return emit


@breaks(
    "shared-agent-runs-apart",
    cells=CHAT,
    collateral={"offered-schema-is-the-declared-one": "a worn schema is not the declared one"},
)
class SchemasWearOut(Loop):
    """Takes what is required out of the nested objects of a shared agent's schemas, when a run has ended."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self._shared = agent

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        for tool in self._shared.tools:
            for nested in tool.parameters.get("properties", {}).values():
                nested.pop("required", None)
