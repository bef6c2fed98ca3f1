"""The driver with which the kit runs the reference, over the same protocol as any other implementation.

A variant of the reference is a subclass that names the part it replaces:

    class OneMore(Loop):
        def limit_reached(self):
            return self.model_calls > self.limit

    class Broken(Driver):
        loop = OneMore
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import httpx

import looptck_reference
from looptck_reference.http.async_runner import AsyncRunner
from looptck_reference.http.cancellation import Cancellation
from looptck_reference.http.runner import Runner
from looptck_reference.http.spans import Tracing
from looptck_reference.kit.choosing import choice_of
from looptck_reference.kit.outcomes import ended, failed
from looptck_reference.kit.posting import AsyncPosts, Posts
from looptck_reference.kit.running import Cancels, cancelling_task
from looptck_reference.kit.servers import Servers
from looptck_reference.kit.team import Team
from looptck_reference.kit.telling import Emit, tells
from looptck_reference.kit.toolbox import LOOPBACK, ToolboxClient, traced
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.models import Service
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.approval import decision
from looptck_reference.vocabulary.dialects import ANTHROPIC_LOOP, CORE, PROMPTY_AGENT_MODE, PROMPTY_SPEC, Dialect
from looptck_reference.vocabulary.errors import Suspended
from looptck_reference.vocabulary.output import Output
from looptck_reference.vocabulary.registry import Registry
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["Driver"]

TIMEOUT = 30.0


class Driver:
    """Runs the kit's cases on the reference."""

    loop: ClassVar[type[Loop]] = Loop
    tool: ClassVar[type[Tool]] = Tool
    invoker: ClassVar[type[Invoker]] = Invoker
    team: ClassVar[type[Team]] = Team
    tracing: ClassVar[type[Tracing]] = Tracing
    cancellation: ClassVar[type[Cancellation]] = Cancellation
    servers: ClassVar[type[Servers]] = Servers
    wires: ClassVar[Mapping[str, Wire]] = {
        "openai-chat": OPENAI_CHAT,
        "openai-responses": OPENAI_RESPONSES,
        "anthropic-messages": ANTHROPIC_MESSAGES,
    }
    dialects: ClassVar[Mapping[str, Dialect]] = {
        "anthropic-loop": ANTHROPIC_LOOP,
        "core": CORE,
        "prompty-agent-mode": PROMPTY_AGENT_MODE,
        "prompty-spec": PROMPTY_SPEC,
    }

    def __init__(self) -> None:
        self._posts = Posts()
        self._cancels = Cancels()
        self._conversations: dict[str, Conversation] = {}
        self._agents: dict[str, Agent] = {}
        self._async: _Async | None = None

    def start(self) -> Json:
        """The description of the reference and its capabilities."""
        return {
            "protocol": 1,
            "name": "looptck-reference",
            "version": looptck_reference.__version__,
            "language": "python",
            "wires": sorted(self.wires),
            "modes": ["sync", "async"],
            "profiles": sorted(self.dialects.keys() - {"core"}),
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "bindings": True,
                "kinds": True,
                "prompts": True,
                "nested": True,
                "mixed": True,
                "parallel": True,
                "prune": True,
                "mcp": True,
                "mcp_client": True,
                "hosted": True,
                "hosted_others": True,
                "spans": True,
                "conversations": True,
                "histories": True,
                "shared": True,
                "cancel": True,
                "interrupt": True,
                "usage": True,
                "events": True,
                "leave": True,
                "confirm": True,
                "suspend": True,
                "travels": True,
                "changes": True,
                "parts": True,
                "strict": True,
                "tool_choice": True,
                "single_calls": True,
                "handoffs": True,
                "subagents": True,
                "output": True,
            },
            "dialect": {"limit_counts": "model-calls", "profiles": "apart"},
        }

    def run(self, case: Json, emit: Emit) -> Json:
        """Run one case in sync mode, over connections of its own, which are shut down when it is cancelled."""
        toolbox = ToolboxClient("sync", self._posts, None)
        cancellation = self.cancellation()
        begun: Invocation | None = None
        with (
            httpx.Client(**LOOPBACK, timeout=TIMEOUT) as client,
            self._cancels.during(case.get("id"), cancellation.cancel),
            traced(case) as provider,
        ):
            try:
                invoker = self._invoker(case, toolbox, provider, client=client, cancellation=cancellation)
                with self.servers().connected(case) as toolbox.served:
                    begun = self._begin(case, toolbox, invoker)
                    self._drive(invoker.runner(begun), begun, emit, case["options"].get("leave_after"))
            except Exception as error:  # noqa: BLE001 - any exception that reaches the caller of the loop is the outcome
                return failed(begun, error)
            finally:
                if begun is not None and "conversation" in case:
                    self.keep(case, begun.loop.conversation)
        return ended(begun.loop)

    async def run_async(self, case: Json, emit: Emit) -> Json:
        """Run one case in async mode, as a task, which is cancelled with the run."""
        here = self._of_this_event_loop()
        toolbox = ToolboxClient("async", self._posts, here.posts)
        begun: Invocation | None = None
        with self._cancels.during(case.get("id"), cancelling_task()), traced(case) as provider:
            try:
                invoker = self._invoker(case, toolbox, provider, async_client=here.client)
                with self.servers().connected(case) as toolbox.served:
                    begun = self._begin(case, toolbox, invoker)
                    runner = invoker.async_runner(begun)
                    await self._drive_async(runner, begun, emit, case["options"].get("leave_after"))
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - as above
                return failed(begun, error)
            finally:
                if begun is not None and "conversation" in case:
                    self.keep(case, begun.loop.conversation)
        return ended(begun.loop)

    def cancel(self, id: str) -> None:
        """Cancel the run of the case with this id."""
        self._cancels.cancel(id)

    def stop(self) -> None:
        """Close all clients, while the event loop of the async runs is still running."""
        self._posts.close()
        if self._async is not None and self._async.loop.is_running():
            asyncio.run_coroutine_threadsafe(self._async.close(), self._async.loop).result(TIMEOUT)

    def _drive(self, runner: Runner, begun: Invocation, emit: Emit, leave_after: int | None) -> None:
        """Run a loop to its end, or leave its stream after so many pieces."""
        if leave_after is None:
            with suppress(Suspended):
                runner.drive(begun.loop, stream=begun.stream, on_text=emit, on_news=tells(emit))
            return
        with closing(runner.pieces(begun.loop, stream=begun.stream, on_news=tells(emit))) as pieces:
            for count, text in enumerate(pieces, 1):
                emit(text)
                if count == leave_after:
                    return

    async def _drive_async(self, runner: AsyncRunner, begun: Invocation, emit: Emit, leave_after: int | None) -> None:
        if leave_after is None:
            with suppress(Suspended):
                await runner.drive(begun.loop, stream=begun.stream, on_text=emit, on_news=tells(emit))
            return
        count = 0
        async with aclosing(runner.pieces(begun.loop, stream=begun.stream, on_news=tells(emit))) as pieces:
            async for text in pieces:
                emit(text)
                count += 1
                if count == leave_after:
                    return

    def before(self, case: Json) -> Conversation | None:
        """What the earlier runs of the case's conversation have said."""
        return self._conversations.get(case.get("conversation", ""))

    def keep(self, case: Json, conversation: Conversation) -> None:
        """Keep what was said for the next run of the case's conversation, however this one ended."""
        self._conversations[case["conversation"]] = conversation

    def _invoker(
        self,
        case: Json,
        toolbox: ToolboxClient,
        provider: TracerProvider | None,
        *,
        client: httpx.Client | None = None,
        async_client: httpx.AsyncClient | None = None,
        cancellation: Cancellation | None = None,
    ) -> Invoker:
        asks = "confirm" in case
        return self.invoker(
            self.dialects.get(case["profile"], CORE),
            loop=self.loop,
            registry=Registry(kinds=toolbox.kinds(case)),
            tracing=self.tracing(provider),
            client=client,
            async_client=async_client,
            confirm=toolbox.confirm(case["confirm"]) if asks else None,
            async_confirm=toolbox.async_confirm(case["confirm"]) if asks else None,
            cancellation=cancellation,
        )

    def _begin(self, case: Json, toolbox: ToolboxClient, invoker: Invoker) -> Invocation:
        """Begin the run of a case: with the prompt in its file, if it has one, or with the agent that it spells out."""
        limit = case["options"].get("limit")
        functions = toolbox.functions(case)
        path = case["agent"].get("path")
        if path is not None:
            return invoker.begin(path, case["inputs"], functions, limit=limit, waits=case["mode"] == "async")
        wire = self.wires[case["wire"]]
        service = Service(wire, case["base_url"], case["api_key"])
        if "agents" in case:
            return self.team(case, invoker, service, functions, self._tool).begin(self.before(case))
        loop = self.loop(
            toolbox.served.joined(self.agent_of(case)),
            wire=wire,
            dialect=invoker.dialect,
            limit=limit,
            registry=invoker.registry.for_run(functions),
            keep_rounds=case["options"].get("keep_rounds"),
            conversation=self.before(case),
            messages=case["messages"],
            inputs=case["inputs"],
        )
        if "resume" in case:
            decisions = {one["id"]: decision(one) for one in case["resume"]["decisions"]}
            loop.resume(case["resume"]["state"], decisions)
        return Invocation(loop, service, case["stream"])

    def agent_of(self, case: Json) -> Agent:
        """The agent that a case spells out; one object for all runs that share it."""
        shared = case.get("shared")
        if shared in self._agents:
            return self._agents[shared]
        agent = Agent(
            model=case["model"],
            messages=case["messages"],
            tools=[self._tool(tool) for tool in case["tools"]],
            inputs=case["inputs"],
            name=case["agent"]["name"],
            choice=choice_of(case["options"]),
            output=Output(case["output_schema"]) if "output_schema" in case else None,
            mcp_servers={server["name"]: server["url"] for server in case.get("mcp_servers", ())},
            search=any(tool["kind"] == "search" for tool in case.get("hosted_tools", ())),
            hosted=[tool["tool"] for tool in case.get("hosted_tools", ()) if tool["kind"] == "other"],
        )
        return agent if shared is None else self._agents.setdefault(shared, agent)

    def _tool(self, tool: Json) -> Tool:
        return self.tool(
            name=tool["name"],
            description=tool["description"],
            parameters=tool["parameters"],
            kind=tool["kind"],
            bindings=tool.get("bindings", {}),
            strict=tool.get("strict", False),
            approval=tool.get("approval", False),
            options={name: tool[name] for name in ("path", "mode") if name in tool},
        )

    def _of_this_event_loop(self) -> _Async:
        running = asyncio.get_running_loop()
        if self._async is None or self._async.loop is not running:
            self._async = _Async(running, httpx.AsyncClient(**LOOPBACK, timeout=TIMEOUT), AsyncPosts())
        return self._async


@dataclass(frozen=True, slots=True)
class _Async:
    """What the async runs of one event loop share."""

    loop: asyncio.AbstractEventLoop
    client: httpx.AsyncClient
    posts: AsyncPosts

    async def close(self) -> None:
        """Close the connections, on their event loop."""
        self.posts.close()
        await self.client.aclose()
