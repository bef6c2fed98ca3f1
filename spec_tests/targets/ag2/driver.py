"""The driver of AG2: each case becomes an ``Agent`` with the config of its service.

AG2 is async only. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from ag2 import Agent, AgentReply, MemoryStream, tool
from ag2.config import AnthropicConfig, OpenAIConfig, OpenAIResponsesConfig
from ag2.events import (
    BaseEvent,
    ModelMessage,
    ModelMessageChunk,
    ModelRequest,
    ModelResponse,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.observers import observer
from pydantic import Field

from looptck.driver import error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]

CONFIGS: dict[str, Any] = {
    "anthropic-messages": AnthropicConfig,
    "openai-chat": OpenAIConfig,
    "openai-responses": OpenAIResponsesConfig,
}


class Driver:
    """Runs the kit's cases on AG2."""

    def __init__(self) -> None:
        self._replies: dict[str, AgentReply[Any, Any]] = {}
        """The last replies of conversations, by id."""
        self._agents: dict[str, Agent[Any]] = {}
        """The agents that serve several runs, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "ag2",
            "version": version("ag2"),
            "language": "python",
            "wires": sorted(CONFIGS),
            "modes": ["async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "concurrent": True,
                "parallel": True,
                "conversations": True,
                "histories": True,
                "shared": True,
                "cancel": True,
            },
        }

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case. Cancelling it is cancelling its task."""
        try:
            reply = await self._ask(case, emit)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)
        return value(reply.body)

    async def _ask(self, case: Json, emit: Callable[[str], None]) -> AgentReply[Any, Any]:
        """The reply to the question of a case: of a new agent, or of the one that the conversation has had so far."""
        question = case["messages"][-1]["content"]
        observers = [observer(ModelMessageChunk, lambda chunk: emit(chunk.content))] if case["stream"] else []
        conversation = case.get("conversation")
        if conversation in self._replies:
            reply = await self._replies[conversation].ask(question, observers=observers)
        else:
            reply = await self._agent(case).ask(question, stream=await _stream(case), observers=observers)
        if conversation is not None:
            self._replies[conversation] = reply
        return reply

    def _agent(self, case: Json) -> Agent[Any]:
        """A new agent, or the one that the case shares."""
        id = case.get("shared")
        if id in self._agents:
            return self._agents[id]
        agent = _new_agent(case)
        return agent if id is None else self._agents.setdefault(id, agent)


def _new_agent(case: Json) -> Agent[Any]:
    functions = handlers(case)
    url = case["base_url"].removesuffix("/v1") if case["wire"] == "anthropic-messages" else case["base_url"]
    config = CONFIGS[case["wire"]](model=case["model"], api_key=case["api_key"], base_url=url, streaming=case["stream"])
    instructions = [message["content"] for message in case["messages"] if message["role"] == "system"]
    tools = [_tool(one, functions[one["name"]]) for one in case["tools"] if one["name"] in functions]
    return Agent("assistant", prompt=instructions, config=config, tools=tools)


async def _stream(case: Json) -> MemoryStream:
    """A stream whose history has the earlier turns of the case."""
    stream = MemoryStream()
    names: dict[str, str] = {}
    events = [_event(message, names) for message in case["messages"][:-1] if message["role"] != "system"]
    if events:
        await stream.history.replace(events)
    return stream


def _event(message: Json, names: dict[str, str]) -> BaseEvent:
    """An earlier message as AG2 keeps it; ``names`` are those of the tools that were called, by the calls' ids."""
    if message["role"] == "user":
        return ModelRequest.ensure_request([message["content"]])
    if message["role"] == "tool":
        call = ToolCallEvent(names[message["call_id"]], id=message["call_id"])
        return ToolResultsEvent([ToolResultEvent.from_call(call, message["content"])])
    calls = [
        ToolCallEvent(one["name"], id=one["id"], arguments=json.dumps(one["arguments"]))
        for one in message.get("calls", ())
    ]
    names |= {call.id: call.name for call in calls}
    said = ModelMessage(message["content"]) if message["content"] else None
    return ModelResponse(message=said, tool_calls=ToolCallsEvent(calls))


def _described(text: str) -> Any:
    return Field(description=text)


def _tool(one: Json, call: Callable[..., Any]) -> Any:
    """The tool as a decorated function, with its schema where no signature says it."""
    function = written(one, call, annotated=_described)
    if function is None:
        return tool(call, name=one["name"], description=one["description"], schema=one["parameters"])
    return tool(function)
