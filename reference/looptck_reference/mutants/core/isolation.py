"""Runs that know of each other: what a loop keeps on its class and not in its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_reference.actions import Action
from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.tools import Tool
from looptck_reference.values import Json, Turn
from looptck_reference.wires import ChatWire, Wire


class LastRunIsTheUser(Mutant):
    """Names the question of the run before as the `user` of its requests: `runs-do-not-leak`."""

    breaks = ("runs-do-not-leak",)
    also = because("the run before may have been one of two at the same time", "concurrent-runs-do-not-leak")
    cells = CHAT

    class loop(Loop):  # noqa: N801  the driver's attribute
        before: ClassVar[str] = ""

        def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
            user = {"user": self.before} if self.before and isinstance(wire, ChatWire) else {}
            super().__init__(replace(agent, options={**agent.options, **user}), wire=wire, **options)

        def stop(self, turn: Turn) -> Action:
            LastRunIsTheUser.loop.before = str(self.agent.messages[-1]["content"])
            return super().stop(turn)


class ToolsPileUp(Mutant):
    """Offers the tools of the run before too: `tools-do-not-leak`."""

    breaks = ("tools-do-not-leak",)
    cells = CHAT

    class loop(Loop):  # noqa: N801
        before: ClassVar[Sequence[Tool]] = ()

        def __init__(self, agent: Agent, **options: Any) -> None:
            names = {tool.name for tool in agent.tools}
            left = [tool for tool in self.before if tool.name not in names]
            ToolsPileUp.loop.before = agent.tools
            super().__init__(replace(agent, tools=[*agent.tools, *left]), **options)


class LatestRunIsTheUser(Mutant):
    """Names the question of the latest run that began as the `user` of its requests: `concurrent-runs-do-not-leak`."""

    breaks = ("concurrent-runs-do-not-leak",)
    cells = CHAT

    class Chat(ChatWire):
        latest = ""

        def opening(self, messages: Sequence[Json]) -> list[Json]:
            LatestRunIsTheUser.Chat.latest = str(messages[-1]["content"])
            return super().opening(messages)

        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            return {**super().request(agent, history, stream=stream), "user": self.latest}

    wires = speaking(chat=Chat())
