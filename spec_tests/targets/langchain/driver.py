"""The driver of LangChain: each case becomes an agent of ``create_agent``, on the chat model of its wire.

The limit is LangGraph's ``recursion_limit``, which counts steps of the graph. Without middleware a model call is one
step and the tools of its turn are the next, however many; so 2 N steps are N model calls. The graph has to have a step
left when it finds that there is nothing more to do, so 2 N - 1 would not let the N-th call answer. ``README.md`` says
what is chosen here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

os.environ["LANGSMITH_TRACING"] = "false"
sys.path.append(str(Path(__file__).resolve().parents[1]))

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ModelCallLimitMiddleware
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain.messages import ToolMessage
from langchain.tools import tool as decorated
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import BaseTool, StructuredTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command
from output_classes import written_class
from pydantic_core import to_jsonable_python

from looptck.driver import error, handlers, suspended, value
from looptck.signatures import written

Json = dict[str, Any]
VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

STREAM = ["messages", "values"]
LEFT = error(RuntimeError("the caller has left the stream"), "cancelled")
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

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], Any] = {}
        """Agents by the name of their thread, or the id under which several runs share one; whether for outputs."""
        self._saver = InMemorySaver()
        self._instructions: dict[str, str | None] = {}

    def start(self) -> Json:
        able = ("stream", "chunks", "limit", "concurrent", "parallel")
        goes_on = ("conversations", "histories", "shared", "cancel", "leave", "suspend", "output", "mcp_client")
        return {
            "protocol": 1,
            "name": f"langchain@{VARIANT}" if VARIANT else "langchain",
            "version": version("langchain"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": dict.fromkeys((*able, *goes_on), True),
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode; with MCP servers in an event loop, because their tools are coroutines."""
        try:
            if case.get("tool_servers"):
                return asyncio.run(self.run_async(case, emit))
            run = self._run_of(case, emit)
            if not case["stream"]:
                return run.answered(run.agent.invoke(run.input, run.config))
            for mode, part in run.agent.stream(run.input, run.config, stream_mode=STREAM):
                if run.is_left_at(mode, part):
                    return LEFT
            return run.answered(run.state)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            run = self._run_of(case, emit, await _served(case))
            if not case["stream"]:
                return run.answered(await run.agent.ainvoke(run.input, run.config))
            async for mode, part in run.agent.astream(run.input, run.config, stream_mode=STREAM):
                if run.is_left_at(mode, part):
                    return LEFT
            return run.answered(run.state)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    def _run_of(self, case: Json, emit: Callable[[str], None], served: Sequence[BaseTool] = ()) -> Run:
        """The agent, its input, and the configuration of a run; with tools of servers."""
        resume = case.get("resume")
        thread = resume["state"]["thread"] if resume else case.get("conversation") or case["id"]
        asked = {"messages": [_message(one) for one in case["messages"] if one["role"] != "system"]}
        config: Json = {"configurable": {"thread_id": thread}}
        if (limit := case["options"].get("limit")) is not None and VARIANT != "model-call-limit":
            config["recursion_limit"] = (3 if _gated(case) else 2) * limit
        leave_after = case["options"].get("leave_after")
        said = decided(resume) if resume else asked
        gives_a_value = "output_schema" in case
        return Run(self._agent(case, thread, served), said, config, thread, emit, leave_after, gives_a_value)

    def _agent(self, case: Json, thread: str, served: Sequence[BaseTool]) -> Any:
        """The agent of a conversation, of a suspended run or of several runs is made once, and keeps its threads."""
        name, gives_a_value = case.get("shared", thread), "output_schema" in case
        system = [message["content"] for message in case["messages"] if message["role"] == "system"]
        instructions = "\n\n".join(system) or self._instructions.get(thread)
        agent = self._kept.get((thread, gives_a_value)) or self._kept.get((name, gives_a_value))
        agent = agent or _made(case, instructions, self._saver, served)
        if case.get("shared"):
            self._kept[name, gives_a_value] = agent
        if case.get("conversation") or _gated(case):
            self._kept[thread, gives_a_value] = agent
            self._instructions[thread] = instructions
        return agent


async def _served(case: Json) -> list[BaseTool]:
    """The tools of the case's MCP servers, each call of which has a session of its own."""
    servers = case.get("tool_servers", ())
    return await MultiServerMCPClient(
        {server["name"]: {"url": server["url"], "transport": "http"} for server in servers}
    ).get_tools()


def _made(case: Json, instructions: str | None, saver: InMemorySaver, served: Sequence[BaseTool]) -> Any:
    """An agent; with a checkpointer if it is to go on, or to wait for approval."""
    calls = handlers(case)
    gated, limit = _gated(case), case["options"].get("limit")
    middleware: list[Any] = [ToldErrors()] if VARIANT == "tool-errors" else []
    if limit is not None and VARIANT == "model-call-limit":
        middleware.append(ModelCallLimitMiddleware(run_limit=limit, exit_behavior="error"))
    if gated:
        middleware.append(HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(gated, True)))
    keeps = case.get("conversation") or case.get("shared") or gated
    return create_agent(
        _model(case),
        [*(_tool(tool, calls[tool["name"]]) for tool in case["tools"] if tool["url"]), *served],
        system_prompt=instructions,
        middleware=middleware,
        response_format=_response_format(case),
        checkpointer=saver if keeps else None,
    )


def _response_format(case: Json) -> Any:
    """The schema of the output as a model class; as it comes where no class says it."""
    schema = case.get("output_schema")
    return None if schema is None else written_class(schema) or schema


def _gated(case: Json) -> list[str]:
    """The names of the tools whose calls need approval."""
    return [tool["name"] for tool in case["tools"] if tool.get("approval")]


def _message(message: Json) -> Json:
    """A message in the form of Chat Completions, which the agent takes."""
    said = {name: message[name] for name in ("role", "content")}
    if message["role"] == "tool":
        return said | {"tool_call_id": message["call_id"]}
    if not message.get("calls"):
        return said
    members = [(call["id"], call["name"], call["arguments"]) for call in message["calls"]]
    return said | {
        "tool_calls": [{"id": id, "name": name, "args": args, "type": "tool_call"} for id, name, args in members]
    }


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


@dataclass(slots=True)
class Run:
    """One run of an agent, and what its caller has heard of it."""

    agent: Any
    input: Any
    config: Any
    thread: str
    emit: Callable[[str], None]
    leave_after: int | None
    """The number of pieces after which the caller leaves the stream; None: never."""
    gives_a_value: bool
    """Whether the caller wants an output of a schema."""
    state: Json = field(default_factory=dict)
    heard: int = 0

    def is_left_at(self, mode: str, part: Any) -> bool:
        """Pass text on as it arrives, and keep the agent's state; whether the caller leaves the stream here."""
        if mode == "values":
            self.state = {**self.state, **part}
            return False
        message, _ = part
        if not (isinstance(message, AIMessageChunk) and message.text):
            return False
        self.emit(str(message.text))
        self.heard += 1
        return self.heard == self.leave_after

    def answered(self, state: Json) -> Json:
        """The text of the last message, which is what one prints, the output, or the calls that wait for approval."""
        message: AIMessage = state["messages"][-1]
        interrupts = state.get("__interrupt__")
        if interrupts:
            return _suspended(interrupts[0].value, message, self.thread)
        if self.gives_a_value:
            return value(None, output=to_jsonable_python(state["structured_response"]))
        return _answered(message)


def _suspended(request: Json, message: AIMessage, thread: str) -> Json:
    """The calls that wait. A request for approval has no ids: its actions are the message's calls of these tools."""
    actions = request["action_requests"]
    names = {action["name"] for action in actions}
    ids = [call["id"] for call in message.tool_calls if call["name"] in names]
    calls = [
        {"id": id, "name": action["name"], "arguments": action["args"]} for id, action in zip(ids, actions, strict=True)
    ]
    return suspended({"thread": thread, "calls": calls}, calls)


def decided(resume: Json) -> Command[Any]:
    """The decisions in the order of the calls that have waited."""
    by_id = {decision["id"]: decision for decision in resume["decisions"]}
    calls = resume["state"]["calls"]
    return Command(resume={"decisions": [_decision(call, by_id[call["id"]]) for call in calls]})


def _decision(call: Json, decision: Json) -> Json:
    match decision["decision"]:
        case "reject":
            return {"type": "reject", "message": decision.get("feedback")}
        case "change":
            changed = {**call["arguments"], **decision["parameters"]}
            return {"type": "edit", "edited_action": {"name": call["name"], "args": changed}}
        case _:
            return {"type": "approve"}


def _answered(message: AIMessage) -> Json:
    """The text of a message; with a variant also what the service called its end."""
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
