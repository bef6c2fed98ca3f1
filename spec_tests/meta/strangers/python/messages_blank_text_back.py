"""An empty text block before a call is sent back unchanged, and the service refuses it.

Messages, text blocks must be non-empty; reported as anthropics/anthropic-sdk-python#461.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    failure,
    messages_prompt,
    messages_tools,
    offered,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def talk(
    ask: Callable[[list[Json]], Awaitable[Json]],
    answer: Callable[[Json], Awaitable[Json]],
    prompt: list[Json],
    left: int,
) -> str:
    """Run a conversation with two callbacks: one asks the model, one answers a call."""
    if left == 0:
        raise Stopped("limit", "too many turns")
    reply = await ask(prompt)
    content, reason = reply["content"], reply.get("stop_reason")
    if reason in ("max_tokens", "model_context_window_exceeded"):
        raise Stopped("truncated", f"stop reason {reason}")
    if reason == "refusal":
        raise Stopped("refusal", str(reply.get("stop_details") or "the model refused"))
    calls = [block for block in content if block["type"] == "tool_use" and reason == "tool_use"]
    if not calls and reason not in ("pause_turn", "compaction"):
        return "".join(block["text"] for block in content if block["type"] == "text")
    turns: list[Json] = [{"role": "assistant", "content": content}] if content else []  # the fault
    if calls:
        turns.append({"role": "user", "content": [await answer(call) for call in calls]})
    return await talk(ask, answer, [*prompt, *turns], left - 1)


class Driver:
    """Makes the two callbacks for each case."""

    def start(self) -> Json:
        return started("messages-blank-text-back", ["anthropic-messages"], ["async"], limit=True, concurrent=True)

    async def run_async(self, case: Json, emit: Any) -> Json:
        tools, head = offered(case["tools"]), messages_prompt(case["messages"])
        offer = {"tools": messages_tools(tools)} if tools else {}
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}

        async def ask(messages: list[Json]) -> Json:
            body = {"model": case["model"], "max_tokens": 4096, **head, **offer, "messages": messages}
            reply: Json = (await client.post("messages", json=body)).raise_for_status().json()
            if "content" not in reply:
                raise Stopped("provider", str(reply))
            return reply

        async def answer(call: Json) -> Json:
            text, failed = await asyncio.to_thread(run_call, tools, call["name"], call["input"])
            return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}

        base = {"base_url": case["base_url"], "headers": headers, "timeout": TIMEOUT, "trust_env": False}
        try:
            async with httpx.AsyncClient(**base) as client:
                text = await talk(ask, answer, head["messages"], case["options"].get("limit", LIMIT))
        except Exception as error:  # noqa: BLE001
            return failure(error)
        return {"kind": "value", "text": text}
