"""What the drivers of Python targets share: tools that ask the kit what to do, and errors told in the protocol's words.

Standard library only, for it runs in the environment of each target.
"""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

Json = dict[str, Any]

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml`` beside the driver); empty for the first."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def named(name: str) -> str:
    """The name of a target in ``started``: the implementation's, with the variant."""
    return f"{name}@{VARIANT}" if VARIANT else name


def handlers(case: Json) -> dict[str, Callable[..., Any]]:
    """A function for each tool of the case that is to have one."""
    return {tool["name"]: _handler(tool) for tool in case["tools"] if tool["url"]}


def async_handlers(case: Json) -> dict[str, Callable[..., Awaitable[Any]]]:
    """The same as coroutine functions."""
    return {tool["name"]: _async_handler(tool) for tool in case["tools"] if tool["url"]}


def mixed_handlers(case: Json) -> dict[str, Callable[..., Any]]:
    """The same as the kind of function that each tool asks for, and as coroutine functions where it asks for none."""
    plain = {tool["name"] for tool in case["tools"] if tool.get("handler") == "sync"}
    return async_handlers(case) | {name: handle for name, handle in handlers(case).items() if name in plain}


def _handler(tool: Json) -> Callable[..., Any]:
    def handle(*positional: Any, **named: Any) -> Any:
        return ask_the_kit(tool["url"], {"arguments": _arguments(tool, positional, named)})

    return handle


def _async_handler(tool: Json) -> Callable[..., Awaitable[Any]]:
    async def handle(*positional: Any, **named: Any) -> Any:
        return await asyncio.to_thread(ask_the_kit, tool["url"], {"arguments": _arguments(tool, positional, named)})

    return handle


def _arguments(tool: Json, positional: tuple[Any, ...], named: Json) -> Json:
    """What a handler was called with; what comes without a name belongs to the tool's parameters in their order."""
    parameters = list(tool["parameters"].get("properties", {}))
    if len(positional) > len(parameters):
        raise TypeError(f"{tool['name']} takes {len(parameters)} arguments, and was called with {len(positional)}")
    return dict(zip(parameters, positional, strict=False)) | named


def ask_the_kit(url: str, told: Json) -> Any:
    """What the kit wants the handler to return; or it raises what the kit wants it to raise, under that very name."""
    request = urllib.request.Request(url, json.dumps(told).encode(), {"Content-Type": "application/json"})
    with _OPENER.open(request) as response:
        reply = json.load(response)
    if error := reply.get("error"):
        raise type(error["type"], (Exception,), {})(error["message"])
    return reply["value"]


def answered(text: str | None) -> Json:
    """The outcome of a loop that returned."""
    return {"kind": "value", "text": text}


def failed(error: Exception, reason: str | None = None) -> Json:
    """The outcome of a loop that raised; without the driver's reason, the type of the error or of its cause decides."""
    names = (type(one).__name__ for one in (error, error.__cause__))
    return {
        "kind": "error",
        "reason": reason or next((_REASONS[name] for name in names if name in _REASONS), "other"),
        "type": type(error).__name__,
        "message": str(error),
    }


_REASONS = {
    "APIConnectionError": "provider",
    "APIError": "stream",
    "APITimeoutError": "provider",
    "AuthenticationError": "provider",
    "BadRequestError": "provider",
    "ContentFilterFinishReasonError": "truncated",
    "InternalServerError": "provider",
    "JSONDecodeError": "stream",
    "LengthFinishReasonError": "truncated",
    "NotFoundError": "provider",
    "RateLimitError": "provider",
    "RemoteProtocolError": "stream",
}
"""The names of the openai package's errors, and of those that it lets through."""
