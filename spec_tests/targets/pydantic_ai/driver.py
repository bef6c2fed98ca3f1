"""The driver of Pydantic AI, at three ages: each case becomes an agent with a model of the case's wire.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import aclosing, nullcontext
from importlib.metadata import version
from typing import Any

from pydantic_ai import (
    Agent,
    AgentRunResultEvent,
    DeferredToolRequests,
    ExternalToolset,
    Tool,
    UsageLimits,
    exceptions,
    messages,
    models,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from looptck.driver import error, handlers, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

WIRES = ["openai-chat", "openai-responses", "anthropic-messages"]
"""The first has no search that the service runs itself."""
TIMEOUT = 60
"""Seconds; the clients of the SDKs below have their own, but not the one that they are given here."""
STOPS = {"stop": "end", "length": "length", "content_filter": "content_filter", "tool_call": "calls"}
"""``finish_reason`` of the result's response, in the protocol's words; others have none."""
REASONS = {
    "UsageLimitExceeded": "limit",
    "OutputTokenLimitExceeded": "truncated",
    "ContentFilterError": "truncated",
    "ModelAPIError": "provider",
    "ModelHTTPError": "provider",
}
"""What the classes of ``pydantic_ai.exceptions`` mean; not every age has all of them."""
HTTP: Any = getattr(models, "httpx2", None) or models.httpx
"""The package of HTTP clients that this age takes one from."""


class Driver:
    """Runs the kit's cases on Pydantic AI."""

    def __init__(self) -> None:
        self._http = HTTP.AsyncClient(timeout=TIMEOUT)

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": f"pydantic-ai@{VARIANT}" if VARIANT else "pydantic-ai",
            "version": version("pydantic-ai-slim"),
            "language": "python",
            "wires": WIRES[1:] if VARIANT == "web-search" else WIRES,
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode, on the event loop of this thread, which no client of another one can share."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        http = HTTP.AsyncClient(timeout=TIMEOUT)
        try:
            agent, options = _agent(case, handlers(case), http), _run(case)
            if not case["stream"]:
                return _answered(agent.run_sync(**options))
            if VARIANT == "events":
                return _answered(agent.run_sync(**options, event_stream_handler=_hearing(emit)))
            if VARIANT == "iter":
                return loop.run_until_complete(_iterated(agent, options, emit))
            streamed = agent.run_stream_sync(**options)
            with streamed if hasattr(streamed, "__enter__") else nullcontext(streamed) as response:
                for text in response.stream_text(delta=True):
                    emit(text)
                return _outcome(response.get_output(), response.response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)
        finally:
            loop.run_until_complete(http.aclose())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            agent, options = _agent(case, handlers(case), self._http), _run(case)
            if not case["stream"]:
                return _answered(await agent.run(**options))
            if VARIANT == "events":
                return await _listened(agent, options, emit)
            if VARIANT == "iter":
                return await _iterated(agent, options, emit)
            async with agent.run_stream(**options) as response:
                async for text in response.stream_text(delta=True):
                    emit(text)
                return _outcome(await response.get_output(), response.response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


async def _listened(agent: Agent[None, Any], options: dict[str, Any], emit: Callable[[str], None]) -> Json:
    """The run as events, the last of which carries its result."""
    streamed = agent.run_stream_events(**options)
    async with streamed if hasattr(streamed, "__aenter__") else aclosing(streamed) as events:
        async for event in events:
            if isinstance(event, AgentRunResultEvent):
                return _answered(event.result)
            _hear(event, emit)
    raise AssertionError("the events of the run ended without a result")


async def _iterated(agent: Agent[None, Any], options: dict[str, Any], emit: Callable[[str], None]) -> Json:
    """The run node by node, with the stream of each model request."""
    async with agent.iter(**options) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        _hear(event, emit)
        return _answered(run.result)


def _hearing(emit: Callable[[str], None]) -> Callable[..., Any]:
    async def hear(_: object, events: Any) -> None:
        async for event in events:
            _hear(event, emit)

    return hear


def _hear(event: Any, emit: Callable[[str], None]) -> None:
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
            emit(text)
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
            emit(text)


def _agent(case: Json, functions: dict[str, Any], http: Any) -> Agent[None, Any]:
    """The case as an agent. A tool that is to have no function is an external one: its calls end the run."""
    external = [
        ToolDefinition(name=tool["name"], parameters_json_schema=tool["parameters"], description=tool["description"])
        for tool in case["tools"]
        if tool["name"] not in functions
    ]
    instructions = [message["content"] for message in case["messages"] if message["role"] == "system"]
    return Agent(
        _model(case, http),
        instructions=instructions,
        tools=[_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions],
        toolsets=[ExternalToolset(external)] if external else [],
        output_type=[str, DeferredToolRequests] if external else str,
        **_searching(),
    )


def _searching() -> dict[str, Any]:
    """What a variant passes to the agent in addition; the first age has no such capabilities."""
    if VARIANT != "web-search":
        return {}
    from pydantic_ai.capabilities import NativeTool
    from pydantic_ai.native_tools import WebSearchTool

    return {"capabilities": [NativeTool(WebSearchTool())]}


def _tool(tool: Json, call: Callable[..., Any]) -> Any:
    """The tool as a function; with its schema where no signature says it, or the variant wants it."""
    function = None if VARIANT == "schema" else written(tool, call)
    return function or Tool.from_schema(call, tool["name"], tool["description"], tool["parameters"])


def _model(case: Json, http: Any) -> Model[Any]:
    name, url, key = case["model"], case["base_url"], case["api_key"]
    if case["wire"] == "anthropic-messages":
        anthropic = AnthropicProvider(base_url=url.removesuffix("/v1"), api_key=key, http_client=http)
        return AnthropicModel(name, provider=anthropic)
    openai = OpenAIProvider(base_url=url, api_key=key, http_client=http)
    model = OpenAIResponsesModel if case["wire"] == "openai-responses" else OpenAIChatModel
    profile = {"profile": openai.model_profile("gpt-5")} if VARIANT == "openai-profile" else {}
    return model(name, provider=openai, **profile)


def _run(case: Json) -> dict[str, Any]:
    """The arguments of the run: the prompt is the last message, and what stands before it is history."""
    *before, prompt = (message for message in case["messages"] if message["role"] != "system")
    arguments: dict[str, Any] = {"user_prompt": prompt["content"]}
    if before:
        arguments["message_history"] = [_said(message) for message in before]
    if "limit" in case["options"]:
        arguments["usage_limits"] = UsageLimits(request_limit=case["options"]["limit"])
    return arguments


def _said(message: Json) -> messages.ModelMessage:
    if message["role"] == "assistant":
        return messages.ModelResponse([messages.TextPart(message["content"])])
    return messages.ModelRequest([messages.UserPromptPart(message["content"])])


def _answered(result: Any) -> Json:
    return _outcome(result.output, result.response)


def _outcome(output: Any, response: messages.ModelResponse) -> Json:
    """The output, which is what one prints; with a variant also why the model stopped."""
    if isinstance(output, DeferredToolRequests):
        return {**value(None), "stop": "calls"}
    stop = STOPS.get(response.finish_reason or "") if VARIANT == "finish-reason" else None
    return {**value(output), "stop": stop} if stop else value(output)


def _failed(exception: Exception) -> Json:
    kinds = [(getattr(exceptions, name, ()), reason) for name, reason in REASONS.items()]
    return error(exception, next((reason for kind, reason in kinds if isinstance(exception, kind)), None))
