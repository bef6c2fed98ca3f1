"""Runs that affect each other: state on the class of a loop instead of its instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatWire, Wire


@breaks(
    "runs-do-not-leak",
    collateral={
        "concurrent-runs-do-not-leak": "the previous run may be one of two concurrent runs",
        "conversations-stay-apart": "the user is named by a word of another conversation",
    },
    cells=CHAT,
)
class LastRunIsTheUser(Loop):
    """Sends the question of the previous run as the `user` of its requests."""

    before: ClassVar[str] = ""

    def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
        user = {"user": self.before} if self.before and isinstance(wire, ChatWire) else {}
        super().__init__(replace(agent, options={**agent.options, **user}), wire=wire, **options)

    def stop(self, turn: Turn) -> Action:
        LastRunIsTheUser.before = str(self.agent.messages[-1]["content"])
        return super().stop(turn)


@breaks(
    "runs-do-not-leak",
    cells=CHAT,
    collateral={"conversations-stay-apart": "the user is named by the instructions of another conversation"},
)
class LastPromptIsTheUser(Loop):
    """Sends the instructions of the previous run as the `user` of its requests, where they are not its own."""

    before: ClassVar[str] = ""

    def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
        own = str(agent.messages[0]["content"]) if agent.messages else ""
        user = {"user": self.before} if self.before not in {"", own} and isinstance(wire, ChatWire) else {}
        LastPromptIsTheUser.before = own
        super().__init__(replace(agent, options={**agent.options, **user}), wire=wire, **options)


@breaks("runs-do-not-leak", cells=CHAT, broad=True)
class LatestLimitForAll(Loop):
    """Runs without a limit of their own have the limit of the latest run that had one."""

    latest: ClassVar[int | None] = None

    def __init__(self, agent: Agent, *, limit: int | None = None, **options: Any) -> None:
        LatestLimitForAll.latest = self.latest if limit is None else limit
        super().__init__(agent, limit=self.latest, **options)


@breaks(
    "tools-do-not-leak",
    cells=CHAT,
    collateral={"shared-agent-runs-apart": "a later run of the agent offers the tools of an earlier one"},
)
class ToolsPileUp(Loop):
    """Offers the tools of earlier runs too."""

    before: ClassVar[Sequence[Tool]] = ()

    def __init__(self, agent: Agent, **options: Any) -> None:
        names = {tool.name for tool in agent.tools}
        left = [tool for tool in self.before if tool.name not in names]
        ToolsPileUp.before = agent.tools
        super().__init__(replace(agent, tools=[*agent.tools, *left]), **options)


@breaks("concurrent-runs-do-not-leak", cells=CHAT)
class LatestRunIsTheUser(ChatWire):
    """Sends the question of the run that began last as the `user` of its requests."""

    latest = ""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        LatestRunIsTheUser.latest = str(messages[-1]["content"]) if messages else ""
        return super().opening(messages)

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        return {**super().request(agent, history, stream=stream), "user": self.latest}


@breaks(
    "concurrent-runs-do-not-leak",
    cells=CHAT_STREAM,
    collateral={"events-of-a-run-are-its-own": "events reach the latest caller too"},
)
class LatestCallerHears(Driver):
    """Forwards the text of all runs to the caller who came last."""

    latest: ClassVar[list[OnText]] = []

    def run(self, case: Json, emit: OnText) -> Json:
        """Keep the latest caller's function, and forward to it."""
        self.latest[:] = [emit]

        def hand_on(text: str) -> None:
            self.latest[0](text)

        return super().run(case, hand_on)
