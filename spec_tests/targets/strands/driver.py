"""The driver of Strands Agents: each case becomes an ``Agent`` with a model of the case's wire.

An agent keeps its conversation, so a case's agent is new unless the case goes on with a conversation. Approval is a
hook that asks, or one that interrupts the agent. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from output_classes import written_class
from strands import Agent, ModelRetryStrategy, Snapshot, tool
from strands.agent import AgentResult
from strands.hooks import BeforeToolCallEvent, HookProvider, HookRegistry
from strands.models import Model
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.tools import PythonAgentTool
from strands.types.exceptions import (
    ContextWindowOverflowException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from looptck.driver import confirm, error, handlers, started, suspended, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

WIRES = ["openai-chat", "openai-responses", "anthropic-messages"]
REASONS = {
    MaxTokensReachedException: "truncated",
    ModelThrottledException: "provider",
    ContextWindowOverflowException: "provider",
}
STOPS = {"limit_turns": "limit"}
"""``stop_reason`` of a result, in the protocol's words, where the feature that ends the run is used."""
MORE_STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
"""Those that only the variant reads."""


class Driver:
    """Runs the kit's cases on Strands Agents."""

    def __init__(self) -> None:
        self._conversations: dict[str, Agent] = {}
        self._running: dict[str, Agent] = {}

    def start(self) -> Json:
        """What the loop is and can do. Only the model of OpenAI's Chat Completions can do without streams."""
        plain = VARIANT == "plain"
        return started(
            f"strands@{VARIANT}" if VARIANT else "strands",
            version("strands-agents"),
            wires=WIRES[:1] if plain else WIRES,
            modes=["sync", "async"],
            dialect={"limit_counts": "model-calls"},
            plain=plain,
            stream=not plain,
            chunks=not plain,
            leave=not plain,
            limit=True,
            concurrent=True,
            parallel=True,
            conversations=True,
            histories=True,
            cancel=True,
            interrupt=True,
            confirm=True,
            suspend=True,
            travels=True,
            subagents=True,
            output=True,
        )

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode, where a callback hears the stream."""
        agent, said = self._agent(case)
        listener = _Listener(case, agent, emit)
        agent.callback_handler = listener
        try:
            return listener.outcome(agent(said, **_options(case)))
        except (Exception, asyncio.CancelledError) as exception:  # noqa: BLE001 - what reaches the caller is the outcome
            return error(exception, reasons=REASONS)
        finally:
            del self._running[case["id"]]

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        agent, said = self._agent(case)
        try:
            if not case["stream"]:
                return _answered(agent, await agent.invoke_async(said, **_options(case)), case)
            return await _streamed(agent, said, case, emit)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception, reasons=REASONS)
        finally:
            del self._running[case["id"]]

    def cancel(self, id: str) -> None:
        """Cancel a run, as the page on the agent loop does, in both modes."""
        if agent := self._running.get(id):
            agent.cancel()

    def _agent(self, case: Json) -> tuple[Agent, Any]:
        """The agent of the case and its prompt."""
        earlier = self._conversations.get(case.get("conversation", ""))
        if "resume" in case:
            agent, said = _restored(case)
        elif earlier is not None:
            agent, said = earlier, case["messages"][-1]["content"]
        else:
            agent, said = _made(case)
        if "conversation" in case:
            self._conversations[case["conversation"]] = agent
        self._running[case["id"]] = agent
        return agent, said


async def _streamed(agent: Agent, said: Any, case: Json, emit: Callable[[str], None]) -> Json:
    left, heard = case["options"].get("leave_after"), 0
    async for event in agent.stream_async(said, **_options(case)):
        if "data" in event:
            emit(event["data"])
            heard += 1
            if heard == left:
                return error(asyncio.CancelledError("the caller has left"), "cancelled")
        if "result" in event:
            return _answered(agent, event["result"], case)
    raise AssertionError("the events of the run ended without a result")


class _Listener:
    """The callback of a sync run: it passes text on, and cancels the agent to leave the stream."""

    def __init__(self, case: Json, agent: Agent, emit: Callable[[str], None]) -> None:
        self._case = case
        self._emit = emit if case["stream"] else None
        self._agent = agent
        self._left = case["options"].get("leave_after")
        self._heard = 0

    def __call__(self, **event: Any) -> None:
        if self._emit and "data" in event:
            self._emit(event["data"])
            self._heard += 1
            if self._heard == self._left:
                self._agent.cancel()

    def outcome(self, result: AgentResult) -> Json:
        """The outcome of the run that was heard."""
        return _answered(self._agent, result, self._case)


def _made(case: Json) -> tuple[Agent, Any]:
    """A new agent and its prompt, which is the last message; what stands before it is history."""
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    *before, prompt = [message for message in case["messages"] if message["role"] != "system"]
    if "agents" in case:
        return _member(case, case["agents"][0]["name"]), prompt["content"]
    agent = _with_tools(case, messages=_said(before), system_prompt="\n\n".join(system) or None)
    return agent, prompt["content"]


def _member(case: Json, name: str) -> Agent:
    """One of several agents, with those that it may call as tools."""
    one = next(one for one in case["agents"] if one["name"] == name)
    functions = handlers(case)
    return Agent(
        name=name,
        description=one["description"],
        system_prompt=one["instructions"],
        model=_model(case),
        tools=[
            *(_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in one["tools"]),
            *(_member(case, below).as_tool() for below in one["subagents"]),
        ],
        hooks=_hooks(case),
        callback_handler=None,
        retry_strategy=ModelRetryStrategy(max_attempts=2, initial_delay=1),
    )


def _restored(case: Json) -> tuple[Agent, Any]:
    """A new agent with the state of the suspended one, and the responses to its interrupts."""
    agent = _with_tools(case)
    agent.load_snapshot(Snapshot.from_dict(case["resume"]["state"]))
    decided = [
        {"interruptResponse": {"interruptId": one["id"], "response": one}} for one in case["resume"]["decisions"]
    ]
    return agent, decided


def _with_tools(case: Json, **options: Any) -> Agent:
    functions = handlers(case)
    return Agent(
        model=_model(case),
        tools=[_tool(one, functions[one["name"]]) for one in case["tools"] if one["name"] in functions],
        hooks=_hooks(case),
        callback_handler=None,
        retry_strategy=ModelRetryStrategy(max_attempts=2, initial_delay=1),
        **options,
    )


def _model(case: Json) -> Model:
    name, url, key = case["model"], case["base_url"], case["api_key"]
    if case["wire"] == "anthropic-messages":
        client = {"base_url": url.removesuffix("/v1"), "api_key": key}
        return AnthropicModel(client_args=client, model_id=name, max_tokens=1024)
    client = {"base_url": url, "api_key": key}
    if case["wire"] == "openai-responses":
        return OpenAIResponsesModel(client_args=client, model_id=name)
    return OpenAIModel(client_args=client, model_id=name, **({} if case["stream"] else {"stream": False}))


def _tool(offered: Json, call: Callable[..., Any]) -> Any:
    """The tool as a decorated function; as a tool with a specification where no signature can express its schema."""
    if function := written(offered, call):
        return tool(function)
    schema = {"json": offered["parameters"]}
    spec = {"name": offered["name"], "description": offered["description"], "inputSchema": schema}

    def answered(use: Json, result: Any) -> Json:
        text = result if isinstance(result, str) else json.dumps(result)
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text}]}

    def plain(tool: Json, **_: Any) -> Json:
        return answered(tool, call(**tool["input"]))

    async def coroutine(tool: Json, **_: Any) -> Json:
        return answered(tool, await call(**tool["input"]))

    return PythonAgentTool(offered["name"], spec, coroutine if iscoroutinefunction(call) else plain)


def _hooks(case: Json) -> list[HookProvider]:
    """What asks for approval, for each agent of its own."""
    guarded = {one["name"] for one in case["tools"] if one.get("approval")}
    return [_Approval(case, guarded)] if guarded else []


class _Approval(HookProvider):
    """Before a call that needs approval: asks for it, or interrupts the agent, which a response resumes."""

    def __init__(self, case: Json, guarded: set[str]) -> None:
        self._case = case
        self._guarded = guarded

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self._approve)

    async def _approve(self, event: BeforeToolCallEvent) -> None:
        use = event.tool_use
        if use["name"] not in self._guarded:
            return
        if "confirm" in self._case:
            decided = await asyncio.to_thread(confirm, self._case, use["toolUseId"], use["name"], use["input"])
        else:
            decided = event.interrupt("approval", reason={"name": use["name"], "arguments": use["input"]})
        if decided["decision"] == "reject":
            event.cancel_tool = decided.get("feedback") or True
        elif decided["decision"] == "change":
            use["input"].update(decided["parameters"])


def _said(messages: list[Json]) -> list[Json]:
    """Earlier turns as the framework writes them: the results of a turn are one message."""
    said: list[Json] = []
    for message in messages:
        if message["role"] == "tool":
            result = {"toolUseId": message["call_id"], "status": "success", "content": [{"text": message["content"]}]}
            if "toolResult" not in said[-1]["content"][0]:
                said.append({"role": "user", "content": []})
            said[-1]["content"].append({"toolResult": result})
            continue
        content: list[Json] = [{"text": message["content"]}] if message["content"] else []
        content += [
            {"toolUse": {"toolUseId": one["id"], "name": one["name"], "input": one["arguments"]}}
            for one in message.get("calls", ())
        ]
        said.append({"role": message["role"], "content": content})
    return said


def _options(case: Json) -> Json:
    """The limit of the run, and the model class of its output."""
    found: Json = {"limits": {"turns": case["options"]["limit"]}} if "limit" in case["options"] else {}
    if schema := case.get("output_schema"):
        found["structured_output_model"] = written_class(schema)
        if not isinstance(found["structured_output_model"], type):
            raise TypeError("an output has to be of a model class")
    return found


def _answered(agent: Agent, result: AgentResult, case: Json) -> Json:
    """The text that one prints, without its last line end; the stop reason where the case uses what it is for.

    The variant reads the stop reason always.
    """
    if result.stop_reason == "interrupt":
        state = agent.take_snapshot(preset="session", include=["system_prompt"]).to_dict()
        return suspended(state, [{"id": one.id, **one.reason} for one in result.interrupts or ()])
    if result.stop_reason == "cancelled":
        return error(asyncio.CancelledError("stop_reason is cancelled"), "cancelled")
    stops = STOPS | MORE_STOPS if VARIANT == "stop-reason" else STOPS
    stop = stops.get(result.stop_reason)
    if "output_schema" in case:
        given = result.structured_output
        return value(None, stop=stop, output=given and given.model_dump())
    return value(str(result).removesuffix("\n"), stop=stop)
