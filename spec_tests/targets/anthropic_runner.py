"""What the drivers of Anthropic's SDK share: its tool runner, with one client for all cases.

Where the runner knows message threads it talks over one unless it is told not to; that, and the version of the SDK, is
all in which the targets differ.

No runner at any age starts a call before the last one has returned, async or not, and none can be told how many rounds
to send again. Newer ones can be told to start the calls of a stream at once, and are not.

Streams are closed here, also those that raise: a stream that is left to the garbage collector may be closed in the
middle of the next request, and httpcore, below the older SDKs, then waits for a lock that this very thread holds.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from inspect import signature
from typing import Any

from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from shared import Json, answered, async_handlers, failed, handlers

NOWHERE = "http://127.0.0.1:9"
MAX_TOKENS = 1024
BETAS = {"betas": ["mcp-client-2025-11-20"]}
"""What a request that names MCP servers has to ask for, at all ages."""
STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
"""What the caller can read from the final message's ``stop_reason``, in the protocol's words; others have none."""


class RunnerDriver:
    """Runs the kit's cases on ``client.beta.messages.tool_runner``."""

    name: str
    """Of the target."""
    threads: bool
    """Whether the runner leans on message threads."""

    def __init__(self) -> None:
        self._client = Anthropic(api_key="-", base_url=NOWHERE)
        self._async_client = AsyncAnthropic(api_key="-", base_url=NOWHERE)
        knows_threads = "thread" in signature(self._client.beta.messages.tool_runner).parameters
        self._thread = {"thread": False} if knows_threads and not self.threads else {}

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": self.name,
            "version": version("anthropic"),
            "language": "python",
            "wires": ["anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": ["anthropic-loop"],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "memory": self.threads,
                "mcp": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        client = self._client.with_options(**_place(case))
        functions = {name: _returning_text(handler) for name, handler in handlers(case).items()}
        tools = [_offered(tool, functions, beta_tool) for tool in case["tools"]] + _toolsets(case)
        try:
            runner: Any = client.beta.messages.tool_runner(tools=tools, **self._request(case))
            if case["stream"]:
                for stream in runner:
                    with stream:
                        for event in stream:
                            if event.type == "text":
                                emit(event.text)
            return _answered(runner.until_done())
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return failed(error)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        client = self._async_client.with_options(**_place(case))
        functions = {name: _returning_text_async(handler) for name, handler in async_handlers(case).items()}
        tools = [_offered(tool, functions, beta_async_tool) for tool in case["tools"]] + _toolsets(case)
        try:
            runner: Any = client.beta.messages.tool_runner(tools=tools, **self._request(case))
            if case["stream"]:
                async for stream in runner:
                    async with stream:
                        async for event in stream:
                            if event.type == "text":
                                emit(event.text)
            return _answered(await runner.until_done())
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return failed(error)

    def _request(self, case: Json) -> Json:
        """The case as arguments of the runner. The Messages API has the system prompt beside the messages."""
        messages = [message for message in case["messages"] if message["role"] != "system"]
        system = [message["content"] for message in case["messages"] if message["role"] == "system"]
        request = {"model": case["model"], "max_tokens": MAX_TOKENS, "messages": messages, "stream": case["stream"]}
        request |= self._thread
        if system:
            request["system"] = "\n\n".join(system)
        if servers := case.get("mcp_servers"):
            request |= {"mcp_servers": [{"type": "url", **server} for server in servers], **BETAS}
        if "limit" in case["options"]:
            request["max_iterations"] = case["options"]["limit"]
        return request


def _place(case: Json) -> Json:
    return {"base_url": case["base_url"].removesuffix("/v1"), "api_key": case["api_key"]}


def _offered(tool: Json, functions: dict[str, Any], runnable: Callable[..., Any]) -> Any:
    """The tool with its function, or where it is to have none the bare definition, which the runner only offers."""
    about = {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
    return runnable(functions[tool["name"]], **about) if tool["name"] in functions else about


def _toolsets(case: Json) -> list[Json]:
    """The API wants a toolset for each MCP server beside the server itself."""
    names = [server["name"] for server in case.get("mcp_servers", [])]
    return [{"type": "mcp_toolset", "mcp_server_name": name} for name in names]


def _returning_text(handler: Callable[..., Any]) -> Callable[..., str]:
    def call(**arguments: Any) -> str:
        return _text(handler(**arguments))

    return call


def _returning_text_async(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[str]]:
    async def call(**arguments: Any) -> str:
        return _text(await handler(**arguments))

    return call


def _text(value: Any) -> str:
    """The runner takes text or content blocks from a tool; whatever else it has to return is the tool's to write."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _answered(message: Any) -> Json:
    texts = [block.text for block in message.content if block.type == "text"]
    outcome = answered("".join(texts) if texts else None)
    stop = STOPS.get(message.stop_reason)
    return {**outcome, "stop": stop} if stop else outcome
