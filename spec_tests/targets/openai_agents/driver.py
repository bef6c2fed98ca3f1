"""The driver of the OpenAI Agents SDK, at three ages: each case becomes an agent, and ``Runner`` runs its loop.

Tools are decorated functions. The SDK has no streaming for sync callers, who run its async streaming in a loop of their
own; the driver does the same. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from importlib.metadata import version
from inspect import iscoroutinefunction
from typing import Any

import agents
from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    MaxTurnsExceeded,
    ModelBehaviorError,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

from looptck.driver import error, handlers, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

MODELS = {"openai-chat": OpenAIChatCompletionsModel, "openai-responses": OpenAIResponsesModel}
OPTIONS: dict[str, Json] = {"raise-errors": {"failure_error_function": None}, "not-strict": {"strict_mode": False}}
"""What a variant passes to the decorator."""
REFUSALS: tuple[type[Exception], ...] = (agents.ModelRefusalError,) if hasattr(agents, "ModelRefusalError") else ()
"""The error of a refusal, which the SDK has since 0.15."""


class Driver:
    """Runs the kit's cases on the SDK."""

    def start(self) -> Json:
        set_tracing_disabled(True)
        return {
            "protocol": 1,
            "name": f"openai-agents@{VARIANT}" if VARIANT else "openai-agents",
            "version": version("openai-agents"),
            "language": "python",
            "wires": list(MODELS),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode; older versions of ``run_sync`` expect the thread to have an event loop."""
        try:
            if case["stream"]:
                return asyncio.run(_streamed(case, handlers(case), emit))
            with asyncio.Runner() as runner:
                asyncio.set_event_loop(runner.get_loop())
                agent, said, options = _arguments(case, handlers(case))
                return _answered(Runner.run_sync(agent, said, **options))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            if case["stream"]:
                return await _streamed(case, handlers(case), emit)
            agent, said, options = _arguments(case, handlers(case))
            return _answered(await Runner.run(agent, said, **options))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


async def _streamed(case: Json, calls: dict[str, Callable[..., Any]], emit: Callable[[str], None]) -> Json:
    agent, said, options = _arguments(case, calls)
    result = Runner.run_streamed(agent, said, **options)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            emit(event.data.delta)
    return _answered(result)


def _arguments(case: Json, calls: dict[str, Callable[..., Any]]) -> tuple[Agent[Any], Any, dict[str, Any]]:
    """An agent, its input and the options of its run. The client is new, for it is bound to one event loop."""
    client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"])
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    others = [message for message in case["messages"] if message["role"] != "system"]
    agent = Agent(
        name=case["agent"]["name"],
        instructions=system[0] if system else None,
        model=MODELS[case["wire"]](model=case["model"], openai_client=client),
        tools=[_tool(tool, calls[tool["name"]]) for tool in case["tools"] if tool["url"]],
    )
    options = {"max_turns": case["options"]["limit"]} if "limit" in case["options"] else {}
    return agent, others[0]["content"] if len(others) == 1 else others, options


def _tool(tool: Json, call: Callable[..., Any]) -> FunctionTool:
    """The tool as a decorated function, without ``strict_mode`` where the SDK asks for that."""
    function = None if VARIANT == "schema" else written(tool, call)
    if function is None:
        return _custom(tool, call)
    options = OPTIONS.get(VARIANT, {})
    try:
        return function_tool(**options)(function)
    except UserError:
        return function_tool(**{**options, "strict_mode": False})(function)


def _custom(tool: Json, call: Callable[..., Any]) -> FunctionTool:
    """The SDK's way for tools that come with a schema: the tool reads its arguments and sees to its errors itself."""

    async def invoke(context: Any, arguments: str) -> Any:
        values = json.loads(arguments)
        return await call(**values) if iscoroutinefunction(call) else await asyncio.to_thread(call, **values)

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def _answered(result: Any) -> Json:
    """The run's result tells its caller nothing of why the model stopped."""
    return value(result.final_output)


def _failed(exception: Exception) -> Json:
    if isinstance(exception, MaxTurnsExceeded):
        return error(exception, "limit")
    if isinstance(exception, REFUSALS):
        return error(exception, "refusal")
    if isinstance(exception, UserError):
        return error(exception, "tool")
    if isinstance(exception, ModelBehaviorError) and str(exception).startswith("Tool "):
        return error(exception, "unknown-tool")
    return error(exception, "stream" if isinstance(exception, AgentsException) else None)
