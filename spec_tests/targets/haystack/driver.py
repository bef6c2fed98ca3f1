"""The driver of Haystack: each case becomes an ``Agent`` with the chat generator of its wire.

A conversation is the list of messages that a run returns, to which the next question is appended. ``README.md`` says
what is chosen here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from inspect import Signature, iscoroutinefunction, signature
from threading import Lock
from typing import Annotated, Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.hooks.human_in_the_loop import (
    AlwaysAskPolicy,
    BlockingConfirmationStrategy,
    ConfirmationHook,
    ConfirmationUIResult,
)
from haystack.hooks.human_in_the_loop.types import ConfirmationUI
from haystack.tools import Tool
from haystack.tools import tool as decorated
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator

from looptck.driver import confirm, error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]
Messages = list[ChatMessage]

_BASE_URL = Lock()
"""The generator for Anthropic takes its base URL from the environment alone, when it makes its client."""


class Driver:
    """Runs the kit's cases on Haystack."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._conversations: dict[str, Messages] = {}

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "haystack",
            "version": version("haystack-ai"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "modes": ["sync", "async"],
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
                "confirm": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            agent, messages = self._agent_of(case), self._messages(case)
            with _BASE_URL:
                _place(case)
                agent.chat_generator.warm_up()
            result = agent.run(messages=messages, streaming_callback=_callback(case, emit))
            self._keep(case, result)
            return _answered(result)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode, as a task, which is cancelled with the run."""
        try:
            agent, messages = self._agent_of(case), self._messages(case)
            with _BASE_URL:
                _place(case)
                await agent.chat_generator.warm_up_async()
            result = await agent.run_async(messages=messages, streaming_callback=_callback(case, emit))
            self._keep(case, result)
            return _answered(result)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    def _agent_of(self, case: Json) -> Agent:
        """The agent of a case; one object for all runs of a conversation, and for all that share it."""
        name = case.get("conversation", case.get("shared"))
        if name in self._agents:
            return self._agents[name]
        agent = _agent(case)
        return agent if name is None else self._agents.setdefault(name, agent)

    def _messages(self, case: Json) -> Messages:
        """What the conversation has said, and the messages of the case."""
        before = self._conversations.get(case.get("conversation", ""), [])
        messages = [*before, *_said(case["messages"])]
        if "conversation" in case:
            self._conversations[case["conversation"]] = messages
        return messages

    def _keep(self, case: Json, result: Json) -> None:
        if "conversation" in case:
            self._conversations[case["conversation"]] = result["messages"]


def _place(case: Json) -> None:
    if case["wire"] == "anthropic-messages":
        os.environ["ANTHROPIC_BASE_URL"] = case["base_url"].removesuffix("/v1")


def _callback(case: Json, emit: Callable[[str], None]) -> Callable[[StreamingChunk], None] | None:
    """What passes text on while it arrives; with it the generator asks for a stream."""

    def heard(chunk: StreamingChunk) -> None:
        if chunk.content:
            emit(chunk.content)

    return heard if case["stream"] else None


def _agent(case: Json) -> Agent:
    functions = handlers(case)
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    guarded = [tool["name"] for tool in case["tools"] if tool.get("approval")]
    asks = BlockingConfirmationStrategy(confirmation_policy=AlwaysAskPolicy(), confirmation_ui=Asks(case))
    return Agent(
        chat_generator=_generator(case),
        tools=[_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions],
        system_prompt="\n\n".join(system) or None,
        hooks={"before_tool": [ConfirmationHook(dict.fromkeys(guarded, asks))]} if guarded else None,
        **({"max_agent_steps": case["options"]["limit"]} if "limit" in case["options"] else {}),
    )


def _generator(case: Json) -> Any:
    known = {"model": case["model"], "api_key": Secret.from_token(case["api_key"])}
    match case["wire"]:
        case "anthropic-messages":
            return AnthropicChatGenerator(**known)
        case "openai-responses":
            return OpenAIResponsesChatGenerator(**known, api_base_url=case["base_url"])
        case _:
            return OpenAIChatGenerator(**known, api_base_url=case["base_url"])


class Asks(ConfirmationUI):
    """A user interface that asks the kit. It is told the tool and its arguments, but not the id of the call."""

    def __init__(self, case: Json) -> None:
        self._case = case

    def get_user_confirmation(self, tool_name: str, tool_description: str, tool_params: Json) -> ConfirmationUIResult:
        """The decision about a call."""
        decision = confirm(self._case, tool_name, tool_name, tool_params)
        match decision["decision"]:
            case "approve":
                return ConfirmationUIResult(action="confirm")
            case "change":
                return ConfirmationUIResult(action="modify", new_tool_params=decision["parameters"])
            case _:
                return ConfirmationUIResult(action="reject", feedback=decision.get("feedback"))


def _tool(tool: Json, call: Callable[..., Any]) -> Tool:
    """The tool as a decorated function whose parameters are described; with its schema where no signature says it."""
    function = written(tool, call)
    if function is None:
        kind = "async_function" if iscoroutinefunction(call) else "function"
        return Tool(name=tool["name"], description=tool["description"], parameters=tool["parameters"], **{kind: call})
    function.__doc__ = tool["description"]
    function.__signature__ = _described(signature(function), tool["parameters"].get("properties", {}))
    return decorated(function)


def _described(said: Signature, properties: Json) -> Signature:
    """The signature with the description of each parameter in its annotation, as users of Haystack write it."""
    about = {name: one["description"] for name, one in properties.items() if "description" in one}
    return said.replace(
        parameters=[
            one.replace(annotation=Annotated[one.annotation, about[name]]) if name in about else one
            for name, one in said.parameters.items()
        ]
    )


def _said(messages: list[Json]) -> Messages:
    """The messages of a case without its system prompt. A result names the call that it answers."""
    said: Messages = []
    calls: dict[str, ToolCall] = {}
    for message in messages:
        made = [
            ToolCall(id=call["id"], tool_name=call["name"], arguments=call["arguments"])
            for call in message.get("calls", ())
        ]
        calls |= {call.id or "": call for call in made}
        match message["role"]:
            case "user":
                said.append(ChatMessage.from_user(message["content"]))
            case "assistant":
                said.append(ChatMessage.from_assistant(message["content"] or None, tool_calls=made))
            case "tool":
                said.append(ChatMessage.from_tool(message["content"], origin=calls[message["call_id"]]))
    return said


def _answered(result: Json) -> Json:
    """The text of the last message, which is what one prints."""
    return value(result["last_message"].text)
