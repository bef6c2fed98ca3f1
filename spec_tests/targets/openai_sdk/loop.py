"""The tool loop that one writes by hand on the official OpenAI SDK, for Chat Completions.

It is OpenAI's guide to function calling in a loop with a limit: all else is left to the SDK. ``responses.py`` is the
same for the Responses API.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from openai import AsyncOpenAI, OpenAI

OnText = Callable[[str], None]


class LimitReached(Exception):
    """The model still asked for tools in the last of its turns."""


def run(
    client: OpenAI,
    functions: Mapping[str, Callable[..., Any]],
    *,
    messages: list[Any],
    limit: int = 10,
    forgiving: bool = False,
    on_text: OnText | None = None,
    **request: Any,
) -> str | None:
    """Ask the model, run the tools it asks for, and go on until it answers. ``on_text`` makes it stream.

    What goes wrong with a tool is the caller's to hear, or of a ``forgiving`` loop the model's.
    """
    messages = list(messages)
    for _ in range(limit):
        if on_text:
            with client.chat.completions.stream(messages=messages, **request) as stream:
                for event in stream:
                    if event.type == "content.delta":
                        on_text(event.delta)
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(messages=messages, **request).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            try:
                content = text(functions[call.function.name](**arguments(call.function, forgiving=forgiving)))
            except Exception as error:
                if not forgiving:
                    raise
                content = told(call.function, error)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise LimitReached(f"no answer within {limit} turns")


async def run_async(
    client: AsyncOpenAI,
    functions: Mapping[str, Callable[..., Awaitable[Any]]],
    *,
    messages: list[Any],
    limit: int = 10,
    forgiving: bool = False,
    on_text: OnText | None = None,
    **request: Any,
) -> str | None:
    """The same with an async client and async tools."""
    messages = list(messages)
    for _ in range(limit):
        if on_text:
            async with client.chat.completions.stream(messages=messages, **request) as stream:
                async for event in stream:
                    if event.type == "content.delta":
                        on_text(event.delta)
                message = (await stream.get_final_completion()).choices[0].message
        else:
            message = (await client.chat.completions.create(messages=messages, **request)).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            try:
                content = text(await functions[call.function.name](**arguments(call.function, forgiving=forgiving)))
            except Exception as error:
                if not forgiving:
                    raise
                content = told(call.function, error)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise LimitReached(f"no answer within {limit} turns")


def arguments(function: Any, *, forgiving: bool) -> dict[str, Any]:
    """The arguments of a call; some models write nothing where they mean none, which a forgiving loop lets pass."""
    empty = "{}" if forgiving else ""
    read: dict[str, Any] = json.loads(function.arguments or empty)
    return read


def text(value: Any) -> str:
    """What a tool returned, as the model is to read it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def told(function: Any, error: Exception) -> str:
    """What the model is to read of a call that failed."""
    return f"Error: the tool {function.name!r} failed: {type(error).__name__}: {error}"
