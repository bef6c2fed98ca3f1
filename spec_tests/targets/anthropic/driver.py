"""The driver of Anthropic's tool runner, at several ages of the SDK, with one client for all cases.

Where the runner knows message threads it talks over one, as it does by itself. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from inspect import signature
from typing import Any

from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

from looptck.driver import error, handlers, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

NOWHERE = "http://127.0.0.1:9"
MAX_TOKENS = 1024
BETAS = {"betas": ["mcp-client-2025-11-20"]}
"""What a request that names MCP servers has to ask for, at all ages."""
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
"""The service's search, in the form that all ages know."""
VARIANTS: dict[str, Json] = {"no-threads": {"thread": False}, "eager": {"run_tools_eagerly": True}}
"""What a variant passes to the runner; the others are about the tools."""
STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
"""What the caller can read from the final message's ``stop_reason``, in the protocol's words; others have none."""


class Driver:
    """Runs the kit's cases on ``client.beta.messages.tool_runner``."""

    def __init__(self) -> None:
        self._client = Anthropic(api_key="-", base_url=NOWHERE)
        self._async_client = AsyncAnthropic(api_key="-", base_url=NOWHERE)
        knows_threads = "thread" in signature(self._client.beta.messages.tool_runner).parameters
        self._leans = knows_threads and VARIANT != "no-threads"

    def start(self) -> Json:
        """What the loop is and can do. No runner starts a call before the last one has returned, async or not."""
        return {
            "protocol": 1,
            "name": f"anthropic tool runner@{VARIANT}" if VARIANT else "anthropic tool runner",
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
                "memory": self._leans,
                "eager": VARIANT == "eager",
                "mcp": True,
                "hosted": True,
                "hosted_others": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        client = self._client.with_options(**_place(case))
        functions = handlers(case)
        tools = [_offered(tool, functions, beta_tool, _as_text) for tool in case["tools"]] + _hosted(case)
        try:
            runner: Any = client.beta.messages.tool_runner(tools=tools, **_request(case))
            if case["stream"]:
                for stream in runner:
                    with stream:
                        for event in stream:
                            if event.type == "text":
                                emit(event.text)
            return _answered(runner.until_done())
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        client = self._async_client.with_options(**_place(case))
        functions = handlers(case)
        tools = [_offered(tool, functions, beta_async_tool, _as_text_async) for tool in case["tools"]] + _hosted(case)
        try:
            runner: Any = client.beta.messages.tool_runner(tools=tools, **_request(case))
            if case["stream"]:
                async for stream in runner:
                    async with stream:
                        async for event in stream:
                            if event.type == "text":
                                emit(event.text)
            return _answered(await runner.until_done())
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)


def _request(case: Json) -> Json:
    """The case as arguments of the runner. The Messages API has the system prompt beside the messages."""
    messages = [message for message in case["messages"] if message["role"] != "system"]
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    request = {"model": case["model"], "max_tokens": MAX_TOKENS, "messages": messages}
    if case["stream"]:
        request["stream"] = True
    if case["stream"] or VARIANT != "eager":
        request |= VARIANTS.get(VARIANT, {})
    if system:
        request["system"] = "\n\n".join(system)
    if servers := case.get("mcp_servers"):
        request |= {"mcp_servers": [{"type": "url", **server} for server in servers], **BETAS}
    if "limit" in case["options"]:
        request["max_iterations"] = case["options"]["limit"]
    return request


def _place(case: Json) -> Json:
    return {"base_url": case["base_url"].removesuffix("/v1"), "api_key": case["api_key"]}


def _offered(
    tool: Json, functions: dict[str, Any], decorator: Callable[..., Any], as_text: Callable[..., Callable[..., Any]]
) -> Any:
    """The tool as a decorated function; without one, as the bare definition, which the runner only offers.

    A schema that no signature says is handed to the decorator, as it is with the variant ``schema`` for all tools.
    """
    about = {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
    if tool["name"] not in functions:
        return about
    call = as_text(functions[tool["name"]]) if VARIANT == "json-results" else functions[tool["name"]]
    function = None if VARIANT == "schema" else written(tool, call)
    return decorator(call, **about) if function is None else decorator(function)


def _hosted(case: Json) -> list[Json]:
    """The tools of the service as they are, and for each MCP server the toolset that the API wants beside it."""
    tools = [tool.get("tool", SEARCH) for tool in case.get("hosted_tools", [])]
    names = [server["name"] for server in case.get("mcp_servers", [])]
    return [*tools, *({"type": "mcp_toolset", "mcp_server_name": name} for name in names)]


def _as_text(handler: Callable[..., Any]) -> Callable[..., str]:
    def call(*positional: Any, **named: Any) -> str:
        return _text(handler(*positional, **named))

    return call


def _as_text_async(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[str]]:
    async def call(*positional: Any, **named: Any) -> str:
        return _text(await handler(*positional, **named))

    return call


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _answered(message: Any) -> Json:
    texts = [block.text for block in message.content if block.type == "text"]
    outcome = value("".join(texts) if texts else None)
    stop = STOPS.get(message.stop_reason)
    return {**outcome, "stop": stop} if stop else outcome
