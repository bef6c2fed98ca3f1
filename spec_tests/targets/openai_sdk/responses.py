"""The same loop for the Responses API, as OpenAI's guide to function calling writes it.

The history is kept here and sent whole with every request, the model's output items as they came; the service's own
memory (``previous_response_id``) is not used, and whether it stores anything is left to its default.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from loop import LimitReached, OnText, arguments, text, told
from openai import AsyncOpenAI, OpenAI


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
    items = list(messages)
    for _ in range(limit):
        if on_text:
            with client.responses.stream(input=items, **request) as stream:
                for event in stream:
                    if event.type == "response.output_text.delta":
                        on_text(event.delta)
                response = stream.get_final_response()
        else:
            response = client.responses.create(input=items, **request)
        items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            try:
                output = text(functions[call.name](**arguments(call, forgiving=forgiving)))
            except Exception as error:
                if not forgiving:
                    raise
                output = told(call, error)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
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
    items = list(messages)
    for _ in range(limit):
        if on_text:
            async with client.responses.stream(input=items, **request) as stream:
                async for event in stream:
                    if event.type == "response.output_text.delta":
                        on_text(event.delta)
                response = await stream.get_final_response()
        else:
            response = await client.responses.create(input=items, **request)
        items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            try:
                output = text(await functions[call.name](**arguments(call, forgiving=forgiving)))
            except Exception as error:
                if not forgiving:
                    raise
                output = told(call, error)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise LimitReached(f"no answer within {limit} turns")
