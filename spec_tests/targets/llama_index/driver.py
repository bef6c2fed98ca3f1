"""The driver of LlamaIndex: each case becomes a ``FunctionAgent`` with the LLM class of its wire.

The agent is async only. A conversation is a ``Context`` that its runs share. A tool that needs approval waits for an
event, as the page on humans in the loop shows it. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from importlib.metadata import version
from inspect import Parameter, Signature, signature
from typing import Any

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import LLM, ChatMessage, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses
from pydantic import BaseModel
from workflows.errors import WorkflowCancelledByUser, WorkflowRuntimeError
from workflows.handler import WorkflowHandler

from looptck.driver import confirm, error, handlers, suspended, value
from looptck.signatures import written

Json = dict[str, Any]
Coroutine = Callable[..., Awaitable[Any]]

CLAUDE = "claude-sonnet-4-5"
"""The name of a model that the class for Anthropic knows; it takes no other."""
WINDOW = 128_000
"""Tokens, as on the page of the package."""


class Driver:
    """Runs the kit's cases on LlamaIndex."""

    def __init__(self) -> None:
        self._agents: dict[str, FunctionAgent] = {}
        self._conversations: dict[str, tuple[FunctionAgent, Context]] = {}
        self._running: dict[str, tuple[WorkflowHandler, asyncio.AbstractEventLoop]] = {}

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "llama-index",
            "version": version("llama-index-core"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "parallel": True,
                "conversations": True,
                "histories": True,
                "shared": True,
                "cancel": True,
                "leave": True,
                "confirm": True,
                "suspend": True,
                "travels": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def cancel(self, id: str) -> None:
        """Cancel the run of the case with this id, on its event loop."""
        if id in self._running:
            handler, loop = self._running[id]
            asyncio.run_coroutine_threadsafe(handler.cancel_run(), loop)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case."""
        try:
            agent, handler = self._begun(case)
            self._running[case["id"]] = handler, asyncio.get_running_loop()
            asks = any(tool.get("approval") for tool in case["tools"])
            if (case["stream"] or asks) and (pending := await _heard(case, agent, handler, emit)):
                return pending
            return value(str(await handler))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)
        finally:
            self._running.pop(case["id"], None)

    def _begun(self, case: Json) -> tuple[FunctionAgent, WorkflowHandler]:
        """The agent and the run of a case: a new one, the next of a conversation, or a suspended one that goes on."""
        agent, context = self._conversations.get(case.get("conversation", ""), (None, None))
        agent = agent or self._agent_of(case)
        if "resume" in case:
            state = case["resume"]["state"]
            agent.system_prompt = state["system_prompt"]
            context = Context.from_dict(agent, state["context"])
        elif context is None:
            context = Context(agent)
        if "conversation" in case:
            self._conversations[case["conversation"]] = agent, context
        if "resume" not in case:
            return agent, agent.run(ctx=context, **_prompt(case))
        handler = agent.run(ctx=context)
        for one in case["resume"]["decisions"]:
            context.send_event(HumanResponseEvent(question=one["id"], decision=one))
        return agent, handler

    def _agent_of(self, case: Json) -> FunctionAgent:
        """The agent of a case; one object for all runs that share it."""
        shared = case.get("shared")
        if shared in self._agents:
            return self._agents[shared]
        agent = _agent(case)
        return agent if shared is None else self._agents.setdefault(shared, agent)


async def _heard(
    case: Json, agent: FunctionAgent, handler: WorkflowHandler, emit: Callable[[str], None]
) -> Json | None:
    """Hear the events of a run to their end, or until the caller leaves or a question suspends it."""
    chunks = 0
    async for event in handler.stream_events():
        if isinstance(event, AgentStream) and event.delta and case["stream"]:
            emit(event.delta)
            chunks += 1
            if chunks == case["options"].get("leave_after"):
                await handler.cancel_run()
                break
        elif isinstance(event, InputRequiredEvent) and "confirm" in case:
            decision = await asyncio.to_thread(confirm, case, event.question, event.tool, event.arguments)
            handler.ctx.send_event(HumanResponseEvent(question=event.question, decision=decision))
        elif isinstance(event, InputRequiredEvent):
            state = {"context": handler.ctx.to_dict(), "system_prompt": agent.system_prompt}
            await handler.cancel_run()
            return suspended(state, [{"id": event.question, "name": event.tool, "arguments": event.arguments}])
    return None


def _agent(case: Json) -> FunctionAgent:
    functions = handlers(case)
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    return FunctionAgent(
        tools=[_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions],
        llm=_model(case),
        system_prompt="\n\n".join(system) or None,
        streaming=case["stream"],
    )


def _model(case: Json) -> LLM:
    if case["wire"] == "anthropic-messages":
        return Anthropic(model=CLAUDE, base_url=case["base_url"].removesuffix("/v1"), api_key=case["api_key"])
    place = {"model": case["model"], "api_base": case["base_url"], "api_key": case["api_key"]}
    if case["wire"] == "openai-responses":
        return OpenAILikeResponses(**place, context_window=WINDOW, is_function_calling_model=True)
    return OpenAILike(**place, context_window=WINDOW, is_chat_model=True, is_function_calling_model=True)


def _tool(tool: Json, call: Coroutine) -> Any:
    """The tool as a function, with its schema where no signature says it."""
    function = written(tool, call)
    if tool.get("approval"):
        return _guarded(tool["name"], function or call)
    if function is not None:
        return function
    return FunctionTool.from_defaults(
        async_fn=call, name=tool["name"], description=tool["description"], fn_schema=_schema(tool)
    )


def _schema(tool: Json) -> type[BaseModel]:
    """The class that LlamaIndex takes a schema from, which says that of the tool."""

    class Schema(BaseModel):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> Json:
            return deepcopy(tool["parameters"])

    return Schema


def _guarded(name: str, function: Coroutine) -> Coroutine:
    """A tool that asks a human, and waits for the answer before it does anything."""

    async def call(ctx: Context, **arguments: Any) -> Any:
        question = f"May {name} run with {json.dumps(arguments)}?"
        answer = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_id=question,
            waiter_event=InputRequiredEvent(question=question, tool=name, arguments=arguments),
            requirements={"question": question},
        )
        decision = answer.decision
        if decision["decision"] == "reject":
            return f"{name} was not run: {decision.get('feedback', 'rejected')}"
        return await function(**decision.get("parameters", arguments))

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=Context)
    call.__name__, call.__doc__ = name, function.__doc__
    call.__signature__ = Signature([context, *signature(function).parameters.values()])  # type: ignore[attr-defined]
    return call


def _prompt(case: Json) -> Json:
    """The arguments of the run: the last message is the question, and what stands before it is history."""
    *before, question = (message for message in case["messages"] if message["role"] != "system")
    arguments: Json = {"user_msg": question["content"]}
    if before:
        arguments["chat_history"] = [_message(message) for message in before]
    if "limit" in case["options"]:
        arguments["max_iterations"] = case["options"]["limit"]
    return arguments


def _message(message: Json) -> ChatMessage:
    if message["role"] == "tool":
        return ChatMessage(
            role="tool", content=message["content"], additional_kwargs={"tool_call_id": message["call_id"]}
        )
    calls = [
        ToolCallBlock(tool_call_id=call["id"], tool_name=call["name"], tool_kwargs=call["arguments"])
        for call in message.get("calls", ())
    ]
    text = [TextBlock(text=message["content"])] if message["content"] or not calls else []
    return ChatMessage(role=message["role"], blocks=[*text, *calls])


def _failed(exception: Exception) -> Json:
    if isinstance(exception, WorkflowCancelledByUser):
        return error(exception, "cancelled")
    reached = isinstance(exception, WorkflowRuntimeError) and str(exception).startswith("Max iterations")
    return error(exception, "limit" if reached else None)
