"""The driver of LangChain: each case becomes an agent of ``create_agent``, on the chat model of its wire.

The limit is LangGraph's ``recursion_limit``, which counts steps of the graph. Without middleware a model call is one
step and the tools of its turn are the next, however many; so 2 N steps are N model calls. The graph has to have a step
left when it finds that there is nothing more to do, so 2 N - 1 would not let the N-th call answer. ``README.md`` says
what is chosen here.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from inspect import iscoroutinefunction
from typing import Any

os.environ["LANGSMITH_TRACING"] = "false"

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelCallLimitMiddleware
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain.messages import ToolMessage
from langchain.tools import tool as decorated
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphRecursionError

from looptck.driver import error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]
VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

STREAM = ["messages", "values"]
STOPS = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
}
"""What the services call it when a reply is not whole, in the protocol's words."""


class Driver:
    """Runs the kit's cases on LangChain."""

    def start(self) -> Json:
        return {
            "protocol": 1,
            "name": f"langchain@{VARIANT}" if VARIANT else "langchain",
            "version": version("langchain"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True},
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        state: Json = {}
        try:
            agent, question, config = _arguments(case, handlers(case))
            if case["stream"]:
                for mode, part in agent.stream(question, config, stream_mode=STREAM):
                    state = _seen(mode, part, state, emit)
            else:
                state = agent.invoke(question, config)
            return _answered(state)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        state: Json = {}
        try:
            agent, question, config = _arguments(case, handlers(case))
            if case["stream"]:
                async for mode, part in agent.astream(question, config, stream_mode=STREAM):
                    state = _seen(mode, part, state, emit)
            else:
                state = await agent.ainvoke(question, config)
            return _answered(state)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


def _arguments(case: Json, calls: dict[str, Callable[..., Any]]) -> tuple[Any, Json, Any]:
    """An agent, its input and the configuration of its run."""
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    others = [message for message in case["messages"] if message["role"] != "system"]
    tools = [_tool(tool, calls[tool["name"]]) for tool in case["tools"] if tool["url"]]
    limit = case["options"].get("limit")
    middleware: list[Any] = [ToldErrors()] if VARIANT == "tool-errors" else []
    config = None
    if limit is not None and VARIANT == "model-call-limit":
        middleware.append(ModelCallLimitMiddleware(run_limit=limit, exit_behavior="error"))
    elif limit is not None:
        config = {"recursion_limit": 2 * limit}
    agent = create_agent(_model(case), tools, system_prompt=system[0] if system else None, middleware=middleware)
    return agent, {"messages": others}, config


def _model(case: Json) -> BaseChatModel:
    known = {"model": case["model"], "api_key": case["api_key"]}
    if case["wire"] == "anthropic-messages":
        return ChatAnthropic(base_url=case["base_url"].removesuffix("/v1"), **known)
    if case["wire"] == "openai-responses":
        known["use_responses_api"] = True
    return ChatOpenAI(base_url=case["base_url"], **known)


def _tool(tool: Json, call: Callable[..., Any]) -> BaseTool:
    """The tool as a decorated function; with its schema where no signature says it, or the variant wants it."""
    function = None if VARIANT == "schema" else written(tool, call)
    if function is not None:
        return decorated(parse_docstring=True)(function)
    kind = "coroutine" if iscoroutinefunction(call) else "func"
    return StructuredTool(
        name=tool["name"], description=tool["description"], args_schema=tool["parameters"], **{kind: call}
    )


class ToldErrors(AgentMiddleware):
    """Tells the model of whatever a tool raises, as the page on agents shows it."""

    def wrap_tool_call(self, request: Any, handler: Callable[..., Any]) -> Any:
        try:
            return handler(request)
        except Exception as exception:  # noqa: BLE001 - the model hears of whatever went wrong
            return _told(request, exception)

    async def awrap_tool_call(self, request: Any, handler: Callable[..., Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except Exception as exception:  # noqa: BLE001 - the model hears of whatever went wrong
            return _told(request, exception)


def _told(request: Any, exception: Exception) -> ToolMessage:
    return ToolMessage(
        f"Tool error: Please check your input and try again. ({exception})", tool_call_id=request.tool_call["id"]
    )


def _seen(mode: str, part: Any, state: Json, emit: Callable[[str], None]) -> Json:
    """Pass text on as it arrives; the state of the agent after this part of the stream."""
    if mode == "values":
        return part
    message, _ = part
    if isinstance(message, AIMessageChunk) and message.text:
        emit(str(message.text))
    return state


def _answered(state: Json) -> Json:
    """The text of the last message, which is what one prints; with a variant also what the service called its end."""
    message: AIMessage = state["messages"][-1]
    outcome = value(str(message.text))
    if VARIANT != "metadata":
        return outcome
    told = message.response_metadata
    incomplete = told.get("incomplete_details") or {}
    reason = incomplete.get("reason") or told.get("finish_reason") or told.get("stop_reason")
    if _refused(message):
        outcome["stop"] = "refusal"
    elif reason in STOPS:
        outcome["stop"] = STOPS[reason]
    elif message.tool_calls or message.invalid_tool_calls:
        outcome["stop"] = "calls"
    return outcome


def _refused(message: AIMessage) -> bool:
    blocks = message.content if isinstance(message.content, list) else []
    return bool(message.additional_kwargs.get("refusal")) or any(
        isinstance(block, dict) and block.get("type") == "refusal" for block in blocks
    )


def _failed(exception: Exception) -> Json:
    reached = isinstance(exception, GraphRecursionError | ModelCallLimitExceededError)
    return error(exception, "limit" if reached else None)
