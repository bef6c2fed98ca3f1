"""The driver of AutoGen's AgentChat: each case becomes an ``AssistantAgent``, which runs its tool loop.

AutoGen is async only. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import ModelClientStreamingChunkEvent, ToolCallSummaryMessage
from autogen_core import CancellationToken, FunctionCall
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    UserMessage,
)
from autogen_core.tools import (
    FunctionTool,
    StaticStreamWorkbench,
    TextResultContent,
    ToolResult,
    ToolSchema,
    Workbench,
)
from autogen_ext.models.anthropic import AnthropicChatCompletionClient
from autogen_ext.models.openai import OpenAIChatCompletionClient

from looptck.driver import error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]

ITERATIONS = 10
"""``max_tool_iterations`` of the README's example."""
MODEL_INFO = ModelInfo(
    vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
)
"""AutoGen requires this for a model whose name it does not know."""


class Driver:
    """Runs the kit's cases on AutoGen."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tokens: dict[str, CancellationToken] = {}
        """The cancellation tokens of the runs that are under way, by id."""
        self._agents: dict[str, AssistantAgent] = {}
        """The agents of conversations, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "autogen",
            "version": version("autogen-agentchat"),
            "language": "python",
            "wires": ["openai-chat", "anthropic-messages"],
            "modes": ["async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "parallel": True,
                "mixed": True,
                "conversations": True,
                "histories": True,
                "cancel": True,
                "leave": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case."""
        self._loop = asyncio.get_running_loop()
        token = self._tokens[case["id"]] = CancellationToken()
        try:
            agent, task = self._agent(case)
            if case["stream"]:
                return await _streamed(agent, task, token, emit, case["options"].get("leave_after"))
            return _answered(await agent.run(task=task, cancellation_token=token))
        except asyncio.CancelledError as cancelled:
            return error(cancelled, "cancelled")
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)
        finally:
            del self._tokens[case["id"]]

    def cancel(self, id: str) -> None:
        """Cancel a run with its token, on the event loop of all runs."""
        if self._loop is not None and id in self._tokens:
            self._loop.call_soon_threadsafe(self._tokens[id].cancel)

    def _agent(self, case: Json) -> tuple[AssistantAgent, str]:
        """The agent of the conversation, or a new one, and its task."""
        *before, prompt = [message for message in case["messages"] if message["role"] != "system"]
        conversation = case.get("conversation")
        if conversation in self._agents:
            return self._agents[conversation], prompt["content"]
        agent = _new_agent(case, before)
        if conversation is not None:
            self._agents[conversation] = agent
        return agent, prompt["content"]


async def _streamed(
    agent: AssistantAgent, task: str, token: CancellationToken, emit: Callable[[str], None], leave_after: int | None
) -> Json:
    """The run as a stream, whose last item is its result. The caller may leave it after some chunks."""
    chunks = 0
    async for message in agent.run_stream(task=task, cancellation_token=token):
        if isinstance(message, TaskResult):
            return _answered(message)
        if isinstance(message, ModelClientStreamingChunkEvent):
            emit(message.content)
            chunks += 1
            if chunks == leave_after:
                break
    return error(asyncio.CancelledError("the caller left the stream"), "cancelled")


def _answered(result: TaskResult) -> Json:
    """The content of the last message. After the last iteration it is a summary of tool results, as its class says."""
    last = result.messages[-1]
    return value(last.content, stop="limit") if isinstance(last, ToolCallSummaryMessage) else value(last.content)


def _new_agent(case: Json, before: list[Json]) -> AssistantAgent:
    """An agent with the case's tools, whose context begins with the earlier messages."""
    functions = handlers(case)
    tools = [tool for tool in case["tools"] if tool["name"] in functions]
    signed = {tool["name"]: written(tool, functions[tool["name"]], annotated=True) for tool in tools}
    unsigned = [tool for tool in tools if signed[tool["name"]] is None]
    options: Json = {"tools": [function for function in signed.values() if function is not None]}
    if unsigned:
        functional = [FunctionTool(function, description=function.__doc__ or "") for function in options.pop("tools")]
        options["workbench"] = [StaticStreamWorkbench(functional), _Schemas(unsigned, functions)]
    if system := [message["content"] for message in case["messages"] if message["role"] == "system"]:
        options["system_message"] = "\n\n".join(system)
    if before:
        options["model_context"] = UnboundedChatCompletionContext(initial_messages=_history(before))
    return AssistantAgent(
        "assistant",
        model_client=_client(case),
        model_client_stream=case["stream"],
        max_tool_iterations=case["options"].get("limit", ITERATIONS),
        **options,
    )


def _client(case: Json) -> Any:
    options: Json = {"model": case["model"], "api_key": case["api_key"], "model_info": MODEL_INFO}
    if case["wire"] == "anthropic-messages":
        return AnthropicChatCompletionClient(base_url=case["base_url"].removesuffix("/v1"), **options)
    return OpenAIChatCompletionClient(base_url=case["base_url"], **options)


def _history(messages: list[Json]) -> list[LLMMessage]:
    """Earlier messages as an agent's context holds them: the results of a turn are one message."""
    found: list[LLMMessage] = []
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] == "tool":
            id = message["call_id"]
            result = FunctionExecutionResult(content=message["content"], name=names[id], call_id=id, is_error=False)
            if found and isinstance(found[-1], FunctionExecutionResultMessage):
                found[-1].content.append(result)
            else:
                found.append(FunctionExecutionResultMessage(content=[result]))
        elif message["role"] == "assistant":
            found.append(_said(message, names))
        else:
            found.append(UserMessage(content=message["content"], source="user"))
    return found


def _said(message: Json, names: dict[str, str]) -> AssistantMessage:
    """A turn of the assistant, whose text is the ``thought`` of its calls if it has any."""
    if not message.get("calls"):
        return AssistantMessage(content=message["content"], source="assistant")
    names.update((call["id"], call["name"]) for call in message["calls"])
    calls = [
        FunctionCall(id=call["id"], name=call["name"], arguments=json.dumps(call["arguments"]))
        for call in message["calls"]
    ]
    return AssistantMessage(content=calls, thought=message["content"] or None, source="assistant")


class _Schemas(Workbench):
    """Tools that come with a JSON Schema, as those of an MCP server do."""

    def __init__(self, tools: list[Json], functions: Mapping[str, Callable[..., Any]]) -> None:
        self._offered = tools
        self._functions = functions

    async def list_tools(self) -> list[ToolSchema]:
        return [
            ToolSchema(name=tool["name"], description=tool["description"], parameters=tool["parameters"])
            for tool in self._offered
        ]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """Run a function until it ends or the run is cancelled; its errors are results, as with an MCP server."""
        running = asyncio.ensure_future(_called(self._functions[name], dict(arguments or {})))
        if cancellation_token is not None:
            cancellation_token.link_future(running)
        try:
            result = await running
        except Exception as exception:  # noqa: BLE001 - whatever a tool raises
            return ToolResult(name=name, result=[TextResultContent(content=str(exception))], is_error=True)
        text = result if isinstance(result, str) else json.dumps(result)
        return ToolResult(name=name, result=[TextResultContent(content=text)])

    async def start(self) -> None:
        """There is nothing to start."""

    async def stop(self) -> None:
        """There is nothing to stop."""

    async def reset(self) -> None:
        """There is nothing to reset."""

    async def save_state(self) -> Mapping[str, Any]:
        return {}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """There is no state."""


async def _called(function: Callable[..., Any], arguments: Json) -> Any:
    if asyncio.iscoroutinefunction(function):
        return await function(**arguments)
    return await asyncio.to_thread(function, **arguments)
