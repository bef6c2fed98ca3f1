"""The driver of a loop by hand on LiteLLM: the prefix of the model names the wire.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise the import asks the network for prices

import litellm
import loop

from looptck.driver import error, handlers, value

Json = dict[str, Any]

PREFIXES = {"openai-chat": "openai/", "openai-responses": "openai/responses/", "anthropic-messages": "anthropic/"}
KNOWN: Json = {"litellm_provider": "openai", "mode": "chat", "supports_native_streaming": True}
"""What LiteLLM knows of the models of services."""
STOPS = {"stop": "end", "tool_calls": "calls", "length": "length", "content_filter": "content_filter"}
"""``finish_reason`` in the protocol's words."""
REASONS: dict[type[BaseException], Any] = {
    loop.LimitReached: "limit",
    loop.UnknownTool: "unknown-tool",
    loop.BrokenArguments: "arguments",
    litellm.exceptions.MidStreamFallbackError: "stream",
}


class Driver:
    """Runs the kit's cases on the loop."""

    def start(self) -> Json:
        """What the loop is and can do."""
        litellm.suppress_debug_info = True
        litellm.register_model({"looptck-model": KNOWN})
        return {
            "protocol": 1,
            "name": "hand-written loop on litellm",
            "version": version("litellm"),
            "language": "python",
            "wires": list(PREFIXES),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "histories": True,
                "cancel": True,
                "leave": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            return _answered(loop.run(handlers(case), **_request(case, emit)))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode. Cancelling it is cancelling its task."""
        try:
            return _answered(await loop.run_async(handlers(case), **_request(case, emit)))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


class _Left(Exception):
    """The caller has left the stream."""


def _request(case: Json, emit: Callable[[str], None]) -> Json:
    """The arguments of the loop. LiteLLM itself adds ``/v1`` to the URL of Anthropic's service."""
    anthropic = case["wire"] == "anthropic-messages"
    request: Json = {
        "model": PREFIXES[case["wire"]] + case["model"],
        "api_base": case["base_url"].removesuffix("/v1") if anthropic else case["base_url"],
        "api_key": case["api_key"],
        "messages": [_message(message) for message in case["messages"]],
        "on_text": _leaving(emit, case["options"].get("leave_after")) if case["stream"] else None,
    }
    if case["tools"]:
        members = ("name", "description", "parameters")
        request["tools"] = [
            {"type": "function", "function": {member: tool[member] for member in members}} for tool in case["tools"]
        ]
    if "limit" in case["options"]:
        request["limit"] = case["options"]["limit"]
    return request


def _leaving(emit: Callable[[str], None], leave_after: int | None) -> Callable[[str], None]:
    """Hand on each chunk, and leave the stream after so many."""
    chunks = 0

    def on_text(text: str) -> None:
        nonlocal chunks
        emit(text)
        chunks += 1
        if chunks == leave_after:
            raise _Left("the caller left the stream")

    return on_text


def _message(message: Json) -> Json:
    """A message of the prompt in the format of Chat Completions."""
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["call_id"], "content": message["content"]}
    if not message.get("calls"):
        return {"role": message["role"], "content": message["content"]}
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for call in message["calls"]
    ]
    return {"role": "assistant", "content": message["content"] or None, "tool_calls": calls}


def _answered(choice: Any) -> Json:
    """The content of the message, and why the model stopped."""
    return value(choice.message.content, stop=STOPS.get(choice.finish_reason, "other"))


def _failed(exception: Exception) -> Json:
    return error(exception, "cancelled" if isinstance(exception, _Left) else None, reasons=REASONS)
