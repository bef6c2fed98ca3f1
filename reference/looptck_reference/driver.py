"""The driver by which the kit runs the reference, over the same protocol as any other implementation.

A variant of the reference is a subclass that says what it replaces:

    class OneMore(Loop):
        def limit_reached(self):
            return self.model_calls > self.limit

    class Broken(Driver):
        loop = OneMore
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import httpx

import looptck_reference
from looptck_reference.actions import Fail
from looptck_reference.agent import Agent
from looptck_reference.dialects import CORE, PROMPTY_AGENT_MODE, PROMPTY_SPEC, Dialect
from looptck_reference.errors import LoopError
from looptck_reference.exchange import tls_for
from looptck_reference.loop import Loop
from looptck_reference.runner import AsyncRunner, OnText, Runner
from looptck_reference.tools import Handler, Tool
from looptck_reference.values import Answer, Json
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire

__all__ = ["Driver"]

TIMEOUT = 30.0

Handlers = Callable[[str], Handler]


class Driver:
    """Runs the kit's cases on the reference."""

    loop: ClassVar[type[Loop]] = Loop
    wires: ClassVar[Mapping[str, Wire]] = {
        "openai-chat": OPENAI_CHAT,
        "openai-responses": OPENAI_RESPONSES,
        "anthropic-messages": ANTHROPIC_MESSAGES,
    }
    dialects: ClassVar[Mapping[str, Dialect]] = {
        "core": CORE,
        "prompty-agent-mode": PROMPTY_AGENT_MODE,
        "prompty-spec": PROMPTY_SPEC,
    }

    def __init__(self) -> None:
        # The kit's servers speak plain HTTP on the loopback, and no proxy may come between.
        self._client = httpx.Client(verify=tls_for("http://"), trust_env=False, timeout=TIMEOUT)
        self._async_client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    def start(self) -> Json:
        """What the reference is and claims."""
        return {
            "protocol": 1,
            "name": "looptck-reference",
            "version": looptck_reference.__version__,
            "language": "python",
            "wires": sorted(self.wires),
            "modes": ["sync", "async"],
            "profiles": sorted(self.dialects.keys() - {"core"}),
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: OnText) -> Json:
        """Run one case in sync mode."""

        def handler(url: str) -> Handler:
            def handle(**arguments: Any) -> Any:
                return _value(self._client.post(url, json={"arguments": arguments}))

            return handle

        loop = self._loop(case, handler)
        runner = Runner(case["base_url"], case["api_key"], wire=loop.wire, client=self._client)
        try:
            return _answered(runner.drive(loop, stream=case["stream"], on_text=emit))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(loop, error)

    async def run_async(self, case: Json, emit: OnText) -> Json:
        """Run one case in async mode."""
        client = self._client_of_this_event_loop()

        def handler(url: str) -> Handler:
            async def handle(**arguments: Any) -> Any:
                return _value(await client.post(url, json={"arguments": arguments}))

            return handle

        loop = self._loop(case, handler)
        runner = AsyncRunner(case["base_url"], case["api_key"], wire=loop.wire, client=client)
        try:
            return _answered(await runner.drive(loop, stream=case["stream"], on_text=emit))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(loop, error)

    def stop(self) -> None:
        """Close what it opened, while the event loop of the async runs still turns."""
        self._client.close()
        if self._async_client is not None and self._async_client[0].is_running():
            loop, client = self._async_client
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(TIMEOUT)

    def _loop(self, case: Json, handler: Handlers) -> Loop:
        agent = Agent(
            model=case["model"],
            messages=case["messages"],
            tools=[_tool(tool, handler) for tool in case["tools"]],
            inputs=case["inputs"],
        )
        dialect = self.dialects.get(case["profile"], CORE)
        return self.loop(agent, wire=self.wires[case["wire"]], dialect=dialect, limit=case["options"].get("limit"))

    def _client_of_this_event_loop(self) -> httpx.AsyncClient:
        running = asyncio.get_running_loop()
        if self._async_client is None or self._async_client[0] is not running:
            client = httpx.AsyncClient(verify=tls_for("http://"), trust_env=False, timeout=TIMEOUT)
            self._async_client = running, client
        return self._async_client[1]


def _tool(tool: Json, handler: Handlers) -> Tool:
    return Tool(
        name=tool["name"],
        description=tool["description"],
        parameters=tool["parameters"],
        kind=tool["kind"],
        handler=None if tool["url"] is None else handler(tool["url"]),
    )


def _value(response: httpx.Response) -> Any:
    """What the kit wants the tool to return; or it raises what the kit wants it to raise, under that very name."""
    reply = response.raise_for_status().json()
    if error := reply.get("error"):
        raise type(error["type"], (Exception,), {})(error["message"])
    return reply["value"]


def _answered(answer: Answer) -> Json:
    return {"kind": "value", "text": answer.text, "stop": answer.stop.value}


def _failed(loop: Loop, error: Exception) -> Json:
    """The loop knows why it failed; if it did not fail, the model could not be asked."""
    known = loop.end if isinstance(loop.end, Fail) else error
    reason = known.reason if isinstance(known, Fail | LoopError) else "other"
    return {"kind": "error", "reason": reason, "type": type(error).__name__, "message": str(error)}
