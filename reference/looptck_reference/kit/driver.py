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
from typing import TYPE_CHECKING, ClassVar

import httpx

import looptck_reference
from looptck_reference.http.runner import OnText
from looptck_reference.http.spans import Tracing
from looptck_reference.kit.toolbox import LOOPBACK, ToolboxClient, traced
from looptck_reference.loop.actions import Fail
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.dialects import ANTHROPIC_LOOP, CORE, PROMPTY_AGENT_MODE, PROMPTY_SPEC, Dialect
from looptck_reference.loop.errors import LoopError
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.registry import Registry
from looptck_reference.loop.tools import Tool
from looptck_reference.loop.values import Answer, Json
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.prompty.models import Service
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
    tracing: ClassVar[type[Tracing]] = Tracing
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
        self._client = httpx.Client(**LOOPBACK, timeout=TIMEOUT)
        self._async_client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

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
                "hosted": True,
                "spans": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: OnText) -> Json:
        """Run one case in sync mode."""
        toolbox = ToolboxClient("sync", self._client, None)
        begun: Invocation | None = None
        with traced(case) as provider:
            try:
                invoker = self._invoker(case, toolbox, provider)
                begun = self._begin(case, toolbox, invoker)
                answer = invoker.runner(begun).drive(begun.loop, stream=begun.stream, on_text=emit)
            except Exception as error:  # noqa: BLE001 - any exception that reaches the caller of the loop is the outcome
                return _failed(begun, error)
        return _answered(answer)

    async def run_async(self, case: Json, emit: OnText) -> Json:
        """Run one case in async mode."""
        toolbox = ToolboxClient("async", self._client, self._client_of_this_event_loop())
        begun: Invocation | None = None
        with traced(case) as provider:
            try:
                invoker = self._invoker(case, toolbox, provider)
                begun = self._begin(case, toolbox, invoker)
                answer = await invoker.async_runner(begun).drive(begun.loop, stream=begun.stream, on_text=emit)
            except Exception as error:  # noqa: BLE001 - any exception that reaches the caller of the loop is the outcome
                return _failed(begun, error)
        return _answered(answer)

    def stop(self) -> None:
        """Close all clients, while the event loop of the async runs is still running."""
        self._client.close()
        if self._async_client is not None and self._async_client[0].is_running():
            loop, client = self._async_client
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(TIMEOUT)

    def _invoker(self, case: Json, toolbox: ToolboxClient, provider: TracerProvider | None) -> Invoker:
        return self.invoker(
            self.dialects.get(case["profile"], CORE),
            loop=self.loop,
            registry=Registry(kinds=toolbox.kinds(case)),
            tracing=self.tracing(provider),
            client=toolbox.client,
            async_client=toolbox.async_client,
        )

    def _begin(self, case: Json, toolbox: ToolboxClient, invoker: Invoker) -> Invocation:
        """Begin the run of a case: with the prompt in its file, if it has one, or with the agent that it spells out."""
        limit = case["options"].get("limit")
        functions = toolbox.functions(case)
        path = case["agent"].get("path")
        if path is not None:
            return invoker.begin(path, case["inputs"], functions, limit=limit, waits=case["mode"] == "async")
        agent = Agent(
            model=case["model"],
            messages=case["messages"],
            tools=[self._tool(tool) for tool in case["tools"]],
            inputs=case["inputs"],
            name=case["agent"]["name"],
            mcp_servers={server["name"]: server["url"] for server in case.get("mcp_servers", ())},
            search=any(tool["kind"] == "search" for tool in case.get("hosted_tools", ())),
        )
        wire = self.wires[case["wire"]]
        loop = self.loop(
            agent,
            wire=wire,
            dialect=invoker.dialect,
            limit=limit,
            registry=invoker.registry.for_run(functions),
            keep_rounds=case["options"].get("keep_rounds"),
        )
        return Invocation(loop, Service(wire, case["base_url"], case["api_key"]), case["stream"])

    def _tool(self, tool: Json) -> Tool:
        return self.tool(
            name=tool["name"],
            description=tool["description"],
            parameters=tool["parameters"],
            kind=tool["kind"],
            bindings=tool.get("bindings", {}),
            strict=tool.get("strict", False),
            options={name: tool[name] for name in ("path", "mode") if name in tool},
        )

    def _client_of_this_event_loop(self) -> httpx.AsyncClient:
        running = asyncio.get_running_loop()
        if self._async_client is None or self._async_client[0] is not running:
            client = httpx.AsyncClient(**LOOPBACK, timeout=TIMEOUT)
            self._async_client = running, client
        return self._async_client[1]


def _answered(answer: Answer) -> Json:
    return {"kind": "value", "text": answer.text, "stop": answer.stop.value}


def _failed(begun: Invocation | None, error: Exception) -> Json:
    """The outcome of a failed run: the loop's error, or the error of asking the model."""
    known = begun.loop.end if begun is not None and isinstance(begun.loop.end, Fail) else error
    reason = known.reason if isinstance(known, Fail | LoopError) else "other"
    return {"kind": "error", "reason": reason, "type": type(error).__name__, "message": str(error)}
