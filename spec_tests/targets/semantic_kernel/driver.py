"""The driver of Semantic Kernel: each case becomes a ``ChatCompletionAgent`` with one plugin of all its tools.

Semantic Kernel is async only. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.contents import (
    AuthorRole,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
)
from semantic_kernel.functions import (
    KernelFunction,
    KernelFunctionFromMethod,
    KernelParameterMetadata,
    KernelPlugin,
    kernel_function,
)

from looptck.driver import error, handlers, started, value
from looptck.signatures import written

Json = dict[str, Any]

PLUGIN = "Tools"
"""The name of the plugin; an agent offers each function as ``PLUGIN-FUNCTION``."""
STOPS = {"stop": "end", "length": "length", "content_filter": "content_filter", "tool_calls": "calls"}
"""``finish_reason`` of the message, in the protocol's words."""


class Driver:
    """Runs the kit's cases on Semantic Kernel."""

    def __init__(self) -> None:
        self._talks: dict[str, tuple[ChatCompletionAgent, ChatHistoryAgentThread]] = {}
        """The agents and threads of conversations, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return started(
            "semantic-kernel",
            version("semantic-kernel"),
            wires=["openai-chat", "anthropic-messages"],
            modes=["async"],
            dialect={"limit_counts": "tool-rounds"},
            stream=True,
            chunks=True,
            limit=True,
            concurrent=True,
            parallel=True,
            mixed=True,
            conversations=True,
            histories=True,
            cancel=True,
            leave=True,
        )

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case."""
        try:
            agent, thread, messages = self._talk(case)
            if case["stream"]:
                return await _streamed(agent, thread, messages, emit, case["options"].get("leave_after"))
            response = await agent.get_response(messages=messages, thread=thread)
            return _answered(response.message.content, response.message)
        except asyncio.CancelledError as cancelled:
            return error(cancelled, "cancelled")
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    def _talk(self, case: Json) -> tuple[ChatCompletionAgent, ChatHistoryAgentThread, list[ChatMessageContent]]:
        """The agent and the thread of the conversation, or new ones, and the messages of the run."""
        messages = _messages([message for message in case["messages"] if message["role"] != "system"])
        conversation = case.get("conversation")
        if conversation in self._talks:
            return *self._talks[conversation], messages
        agent, thread = _agent(case), ChatHistoryAgentThread()
        if conversation is not None:
            self._talks[conversation] = agent, thread
        return agent, thread, messages


async def _streamed(
    agent: ChatCompletionAgent,
    thread: ChatHistoryAgentThread,
    messages: list[ChatMessageContent],
    emit: Callable[[str], None],
    leave_after: int | None,
) -> Json:
    """The run as a stream; its text is what the caller has printed. The caller may leave it after some chunks."""
    texts: list[str] = []
    last = None
    async for response in agent.invoke_stream(messages=messages, thread=thread):
        last = response.message
        if text := last.content:
            emit(text)
            texts.append(text)
            if len(texts) == leave_after:
                return error(asyncio.CancelledError("the caller left the stream"), "cancelled")
    return _answered("".join(texts), last)


def _answered(text: str | None, message: Any) -> Json:
    """The outcome that a message of the agent is for its caller."""
    reason = getattr(message, "finish_reason", None)
    stop = STOPS.get(reason.value, "other") if reason is not None else None
    return value(text, stop=stop)


def _agent(case: Json) -> ChatCompletionAgent:
    """The agent, with a plugin of the case's tools."""
    options: Json = {"plugins": [plugin]} if (plugin := _plugin(case)).functions else {}
    if system := [message["content"] for message in case["messages"] if message["role"] == "system"]:
        options["instructions"] = "\n\n".join(system)
    if "limit" in case["options"]:
        limit = case["options"]["limit"]
        options["function_choice_behavior"] = FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=limit)
    return ChatCompletionAgent(service=_service(case), name="Assistant", **options)


def _service(case: Json) -> Any:
    if case["wire"] == "anthropic-messages":
        client = AsyncAnthropic(api_key=case["api_key"], base_url=case["base_url"].removesuffix("/v1"))
        return AnthropicChatCompletion(ai_model_id=case["model"], api_key=case["api_key"], async_client=client)
    client = AsyncOpenAI(api_key=case["api_key"], base_url=case["base_url"])
    return OpenAIChatCompletion(ai_model_id=case["model"], async_client=client)


def _plugin(case: Json) -> KernelPlugin:
    functions = handlers(case)
    tools = [tool for tool in case["tools"] if tool["name"] in functions]
    return KernelPlugin(name=PLUGIN, functions=[_function(tool, functions[tool["name"]]) for tool in tools])


def _function(tool: Json, call: Callable[..., Any]) -> KernelFunction:
    """A function as users write it, or one with the schemas of its parameters where no signature can express them."""
    signed = written(tool, call, annotated=True)
    if signed is not None:
        decorated = kernel_function(name=tool["name"], description=tool["description"])(signed)
        return KernelFunctionFromMethod(method=decorated, plugin_name=PLUGIN)
    schema = tool["parameters"]
    required = schema.get("required", ())
    parameters = [
        KernelParameterMetadata(
            name=name,
            description=one.get("description") if isinstance(one, dict) else None,
            is_required=name in required,
            type_object=object,
            schema_data=one,
        )
        for name, one in schema.get("properties", {}).items()
    ]
    method = kernel_function(name=tool["name"], description=tool["description"])(_called(call))
    return KernelFunctionFromMethod(method=method, plugin_name=PLUGIN, parameters=parameters)


def _called(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of any arguments, which none of its own is passed to where the model leaves it out."""

    def plain(**arguments: Any) -> Any:
        return call(**_given(arguments))

    async def coroutine(**arguments: Any) -> Any:
        return await call(**_given(arguments))

    return coroutine if asyncio.iscoroutinefunction(call) else plain


def _given(arguments: Json) -> Json:
    return {name: one for name, one in arguments.items() if one is not None}


def _messages(messages: list[Json]) -> list[ChatMessageContent]:
    """Messages as a thread holds them."""
    names = {call["id"]: call["name"] for message in messages for call in message.get("calls", ())}
    found = []
    for message in messages:
        role = AuthorRole(message["role"])
        items: list[Any] = [TextContent(text=message["content"])] if message["content"] else []
        if message["role"] == "tool":
            id = message["call_id"]
            items = [
                FunctionResultContent(
                    id=id, result=message["content"], plugin_name=PLUGIN, function_name=names.get(id, "")
                )
            ]
        items += [
            FunctionCallContent(
                id=call["id"], plugin_name=PLUGIN, function_name=call["name"], arguments=call["arguments"]
            )
            for call in message.get("calls", ())
        ]
        found.append(ChatMessageContent(role=role, items=items))
    return found
