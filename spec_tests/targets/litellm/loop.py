"""The tool loop that one writes by hand on LiteLLM: its page on function calling, in a loop with a limit.

All else is left to LiteLLM, which speaks the wire that the prefix of the model names.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import litellm

Functions = Mapping[str, Callable[..., Any]]
OnText = Callable[[str], None]


class LimitReached(Exception):
    """The model still asked for tools in the last of its turns."""


class UnknownTool(Exception):
    """The model asked for a tool that there is not."""


class BrokenArguments(Exception):
    """The arguments of a call are no JSON object."""


def run(
    functions: Functions, *, messages: list[Any], limit: int = 10, on_text: OnText | None = None, **request: Any
) -> Any:
    """Ask the model, run the tools it asks for, and go on until it answers; ``on_text`` makes it stream.

    Returns:
        The choice that has the answer: its message and its finish reason.

    Raises:
        LimitReached, UnknownTool, BrokenArguments, what LiteLLM raises, and what a tool raises.
    """
    for _ in range(limit):
        if on_text:
            chunks = []
            for chunk in litellm.completion(messages=messages, stream=True, **request):
                chunks.append(chunk)
                if text := _text(chunk):
                    on_text(text)
            response = litellm.stream_chunk_builder(chunks, messages=messages)
        else:
            response = litellm.completion(messages=messages, **request)
        choice = response.choices[0]
        if not choice.message.tool_calls:
            return choice
        messages.append(choice.message)
        for call in choice.message.tool_calls:
            function, arguments = _called(functions, call)
            messages.append(_answer(call, function(**arguments)))
    raise LimitReached(f"no answer within {limit} turns")


async def run_async(
    functions: Mapping[str, Callable[..., Awaitable[Any]]],
    *,
    messages: list[Any],
    limit: int = 10,
    on_text: OnText | None = None,
    **request: Any,
) -> Any:
    """The same with LiteLLM's async functions and async tools."""
    for _ in range(limit):
        if on_text:
            chunks = []
            async for chunk in await litellm.acompletion(messages=messages, stream=True, **request):
                chunks.append(chunk)
                if text := _text(chunk):
                    on_text(text)
            response = litellm.stream_chunk_builder(chunks, messages=messages)
        else:
            response = await litellm.acompletion(messages=messages, **request)
        choice = response.choices[0]
        if not choice.message.tool_calls:
            return choice
        messages.append(choice.message)
        for call in choice.message.tool_calls:
            function, arguments = _called(functions, call)
            messages.append(_answer(call, await function(**arguments)))
    raise LimitReached(f"no answer within {limit} turns")


def _text(chunk: Any) -> str | None:
    return chunk.choices[0].delta.content if chunk.choices else None


def _called(functions: Functions, call: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function of a call, and its arguments."""
    if call.function.name not in functions:
        raise UnknownTool(call.function.name)
    try:
        arguments = json.loads(call.function.arguments)
    except ValueError as error:
        raise BrokenArguments(str(error)) from error
    if not isinstance(arguments, dict):
        raise BrokenArguments(f"{call.function.arguments} is no object")
    return functions[call.function.name], arguments


def _answer(call: Any, value: Any) -> dict[str, Any]:
    """What a tool returned, as the model reads it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"tool_call_id": call.id, "role": "tool", "name": call.function.name, "content": text}
