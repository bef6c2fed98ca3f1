"""The driver of Pydantic AI: each case becomes an agent with a model of the case's wire.

Streams are run as the documentation advises for a run that goes on to its end: by a handler of events. ``run_stream``
takes the first text for the answer and leaves the loop there.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx2
from pydantic_ai import Agent, DeferredToolRequests, ExternalToolset, Tool, UsageLimits, exceptions, messages
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Json, answered, async_handlers, failed, handlers

TIMEOUT = 60
"""Seconds; the clients of the SDKs below have their own, but not the one that they are given here."""
PROFILE = OpenAIProvider.model_profile("gpt-5")
"""Pydantic AI knows a reasoning model of OpenAI's by its name, and the kit's model has a name of its own. Unless it is
told, it sends back neither reasoning items nor those of hosted tools."""
HOSTED = [NativeTool(WebSearchTool())]
"""On Anthropic's wire the blocks of a search that the service runs itself count only if the agent offers it."""
STOPS = {"stop": "end", "length": "length", "content_filter": "content_filter", "tool_call": "calls"}
"""``finish_reason`` of the result's response, in the protocol's words; others have none."""
REASONS: dict[type[Exception], str] = {
    exceptions.UsageLimitExceeded: "limit",
    exceptions.OutputTokenLimitExceeded: "truncated",
    exceptions.ContentFilterError: "truncated",
    exceptions.ModelAPIError: "provider",
}


class Driver:
    """Runs the kit's cases on Pydantic AI."""

    def __init__(self) -> None:
        self._http = httpx2.AsyncClient(timeout=TIMEOUT)

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "pydantic-ai",
            "version": version("pydantic-ai-slim"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode, on the event loop of this thread, which no client of another one can share."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        http = httpx2.AsyncClient(timeout=TIMEOUT)
        try:
            return _answered(_agent(case, handlers(case), http).run_sync(**_run(case, emit)))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)
        finally:
            loop.run_until_complete(http.aclose())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            return _answered(await _agent(case, async_handlers(case), self._http).run(**_run(case, emit)))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)


def _agent(case: Json, functions: dict[str, Any], http: httpx2.AsyncClient) -> Agent[None, Any]:
    """The case as an agent. A tool that is to have no function is an external one: its calls end the run."""
    tools = [
        Tool.from_schema(functions[tool["name"]], tool["name"], tool["description"], tool["parameters"])
        for tool in case["tools"]
        if tool["name"] in functions
    ]
    external = [
        ToolDefinition(tool["name"], tool["parameters"], tool["description"])
        for tool in case["tools"]
        if tool["name"] not in functions
    ]
    return Agent(
        _model(case, http),
        tools=tools,
        toolsets=[ExternalToolset(external)] if external else [],
        capabilities=HOSTED if case["wire"] == "anthropic-messages" else [],
        output_type=[str, DeferredToolRequests] if external else str,
    )


def _model(case: Json, http: httpx2.AsyncClient) -> Model[Any]:
    name, url, key = case["model"], case["base_url"], case["api_key"]
    match case["wire"]:
        case "anthropic-messages":
            anthropic = AnthropicProvider(base_url=url.removesuffix("/v1"), api_key=key, http_client=http)
            return AnthropicModel(name, provider=anthropic)
        case "openai-responses":
            place = OpenAIProvider(base_url=url, api_key=key, http_client=http)
            return OpenAIResponsesModel(name, provider=place, profile=PROFILE)
        case _:
            place = OpenAIProvider(base_url=url, api_key=key, http_client=http)
            return OpenAIChatModel(name, provider=place, profile=PROFILE)


def _run(case: Json, emit: Callable[[str], None]) -> dict[str, Any]:
    """The arguments of the run: the prompt is the last message, and what stands before it is history."""
    *before, prompt = case["messages"]
    arguments: dict[str, Any] = {"user_prompt": prompt["content"], "message_history": [_said(one) for one in before]}
    if "limit" in case["options"]:
        arguments["usage_limits"] = UsageLimits(request_limit=case["options"]["limit"])
    if case["stream"]:
        arguments["event_stream_handler"] = _hearing(emit)
    return arguments


def _said(message: Json) -> messages.ModelMessage:
    match message["role"]:
        case "assistant":
            return messages.ModelResponse([messages.TextPart(message["content"])])
        case "system":
            return messages.ModelRequest([messages.SystemPromptPart(message["content"])])
        case _:
            return messages.ModelRequest([messages.UserPromptPart(message["content"])])


def _hearing(emit: Callable[[str], None]) -> Callable[..., Any]:
    async def hear(_: object, events: Any) -> None:
        async for event in events:
            match event:
                case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
                    emit(text)
                case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
                    emit(text)

    return hear


def _answered(result: Any) -> Json:
    if isinstance(result.output, DeferredToolRequests):
        return {**answered(None), "stop": "calls"}
    stop = STOPS.get(result.response.finish_reason)
    return {**answered(result.output), "stop": stop} if stop else answered(result.output)


def _failed(error: Exception) -> Json:
    return failed(error, next((reason for kind, reason in REASONS.items() if isinstance(error, kind)), None))
