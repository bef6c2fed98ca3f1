"""Faults in an agent object that serves several runs."""

# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, responses_tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class HistoryOnTheAgent(chat_sync.Driver):
    """The agent object holds the messages, so its runs read each other's."""

    class run_of(chat_sync.Run):
        def __init__(self, agent: Any, case: Json, halt: Any, before: list[Json]) -> None:
            super().__init__(agent, case, halt, before)
            history = agent.__dict__.setdefault("history", [])
            history += self.messages
            self.messages = history


class LimitOfTheAgent(chat_sync.Driver):
    """Model calls are counted by the agent object, so later runs reach the limit earlier."""

    class run_of(chat_sync.Run):
        @property
        def asked(self) -> int:
            return self.agent.__dict__.get("asked", 0)

        @asked.setter
        def asked(self, count: int) -> None:
            if count:
                self.agent.asked = count


class OneThreadForAllRuns(messages_async.Driver):
    """The agent object has one thread, which each run empties first."""

    def __init__(self) -> None:
        super().__init__()
        self.common: dict[str, Any] = {}

    async def played(self, run: Any) -> Json:
        if "shared" in run.case and "conversation" not in run.case:
            run.thread = self.common.setdefault(run.case["shared"], run.thread)
            run.thread.system, run.thread.messages = "", []
        return await super().played(run)

    def agent(self, case: Json) -> Any:
        made = messages_async.Agent(case)
        made.turnstile = messages_async.nullcontext()
        return made


class FailingToolRemoved(messages_async.Driver):
    """A tool that has raised is taken from the agent object, so other runs do not have it."""

    class run_of(messages_async.Run):
        async def use(self, tool: Json, arguments: Json) -> tuple[str, bool]:
            text, failed = await super().use(tool, arguments)
            if failed and "shared" in self.case:
                self.agent.tools = {name: one for name, one in self.agent.tools.items() if one is not tool}
            return text, failed


class ToolsAddedByEachRun(responses_items.Driver):
    """Each run adds the tools to the list of the agent object, which offers them twice in the second."""

    class assistant(responses_items.Assistant):
        def __init__(self, case: Json) -> None:
            super().__init__(case)
            self.offers: list[Json] = []

        def body(self, items: list[Json]) -> Json:
            return {**super().body(items), **({"tools": list(self.offers)} if self.offers else {})}

    class run_of(responses_items.Run):
        def __init__(self, assistant: Any, *rest: Any) -> None:
            super().__init__(assistant, *rest)
            assistant.offers += responses_tools(assistant.tools)


class AnswerOnTheAgent(responses_items.Driver):
    """The agent object gathers the answer, so overlapping runs return each other's words."""

    class run_of(responses_items.Run):
        async def response(self) -> AsyncGenerator[str | Json]:
            self.assistant.heard = []
            async for piece in super().response():
                if isinstance(piece, dict):
                    self.assistant.heard += [one for one in piece.get("output") or [] if one["type"] == "message"]
                yield piece

        async def go(self) -> AsyncGenerator[str]:
            async for piece in super().go():
                yield piece
            if self.outcome.get("kind") == "value":
                await responses_items.asyncio.sleep(0)
                self.outcome["text"] = responses_items.responses_text(self.assistant.heard)


class LinkOfTheAgent(responses_stateful.Driver):
    """The agent object keeps the id of the last response, so a new run goes on from another one's."""

    def link(self, case: Json) -> Any:
        if "shared" in case and "conversation" not in case and not case.get("resume"):
            return self.links.setdefault(f"agent {case['shared']}", responses_stateful.Link())
        return super().link(case)
