"""The driver of the OpenAI Agents SDK: each case becomes an agent, and ``Runner`` runs its loop.

Tools are ``FunctionTool`` objects, the SDK's way for tools that come with a JSON Schema: the tool gets the arguments
as text and reads them itself, and an error that it raises ends the run. The SDK has no streaming for sync callers,
who run its async streaming in a loop of their own; the driver does the same.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelRefusalError,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    UserError,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Json, answered, async_handlers, failed

MODELS = {"openai-chat": OpenAIChatCompletionsModel, "openai-responses": OpenAIResponsesModel}


class Driver:
    """Runs the kit's cases on the SDK."""

    def start(self) -> Json:
        set_tracing_disabled(True)
        return {
            "protocol": 1,
            "name": "openai-agents",
            "version": version("openai-agents"),
            "language": "python",
            "wires": list(MODELS),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            if case["stream"]:
                return asyncio.run(_streamed(case, emit))
            agent, messages, options = _arguments(case)
            return _answered(Runner.run_sync(agent, messages, **options))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            if case["stream"]:
                return await _streamed(case, emit)
            agent, messages, options = _arguments(case)
            return _answered(await Runner.run(agent, messages, **options))
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(error)


async def _streamed(case: Json, emit: Callable[[str], None]) -> Json:
    agent, messages, options = _arguments(case)
    result = Runner.run_streamed(agent, messages, **options)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            emit(event.data.delta)
    return _answered(result)


def _arguments(case: Json) -> tuple[Agent[Any], list[Any], dict[str, Any]]:
    """An agent, its input and the options of its run. The client is new, for it is bound to one event loop."""
    client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"])
    system, *others = case["messages"]
    call = async_handlers(case)
    agent = Agent(
        name=case["agent"]["name"],
        instructions=system["content"],
        model=MODELS[case["wire"]](model=case["model"], openai_client=client),
        tools=[_tool(tool, call[tool["name"]]) for tool in case["tools"] if tool["url"]],
    )
    options: dict[str, Any] = {"run_config": RunConfig(tracing_disabled=True)}
    if "limit" in case["options"]:
        options["max_turns"] = case["options"]["limit"]
    return agent, others, options


def _tool(tool: Json, call: Callable[..., Awaitable[Any]]) -> FunctionTool:
    async def invoke(context: Any, arguments: str) -> Any:
        return await call(**json.loads(arguments or "{}"))

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _answered(result: Any) -> Json:
    """The run's result tells its caller nothing of why the model stopped."""
    return answered(result.final_output)


def _failed(error: Exception) -> Json:
    if isinstance(error, MaxTurnsExceeded):
        return failed(error, "limit")
    if isinstance(error, ModelRefusalError):
        return failed(error, "refusal")
    if isinstance(error, UserError):
        return failed(error, "tool")
    if isinstance(error, ModelBehaviorError) and str(error).startswith("Tool "):
        return failed(error, "unknown-tool")
    return failed(error, "stream" if isinstance(error, AgentsException) else None)
