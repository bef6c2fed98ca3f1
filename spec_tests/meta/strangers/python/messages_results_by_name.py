"""The results of a turn are stored by tool name, so two calls of one tool both get the result of the last.

Messages, parallel tool use: each tool_use has its own tool_result, matched by id.
Reported as generative-computing/mellea#1431 and cline/cline#8020. Calls of different tools are handled correctly.
"""

# ruff: noqa: BLE001, PLR0912
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from anthropic import AsyncAnthropic

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    blocks_back,
    failure,
    input_of,
    messages_prompt,
    messages_tools,
    offered,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable


async def ask(client: AsyncAnthropic, body: Json, emit: Callable[[str], None]) -> tuple[list[Json], list[str], str]:
    """Stream a turn. Return its blocks, what was written as their inputs, and why it stopped."""
    blocks: dict[int, Json] = {}
    raws: dict[int, str] = {}
    reason, ended = "", False
    async for item in await client.messages.create(**body, stream=True):
        match item.to_dict(warnings=False):
            case {"type": "content_block_start", "index": int(at), "content_block": dict(block)}:
                blocks[at], raws[at] = dict(block), ""
            case {"type": "content_block_delta", "index": int(at), "delta": {"type": "text_delta", "text": str(text)}}:
                blocks[at]["text"] = blocks[at].get("text", "") + text
                if text:
                    emit(text)
            case {"type": "content_block_delta", "index": int(at), "delta": {"partial_json": str(text)}}:
                raws[at] += text
            case {"type": "content_block_delta", "index": int(at), "delta": {"thinking": str(text)}}:
                blocks[at]["thinking"] = blocks[at].get("thinking", "") + text
            case {"type": "content_block_delta", "index": int(at), "delta": {"signature": str(text)}}:
                blocks[at]["signature"] = text
            case {"type": "content_block_delta", "index": int(at), "delta": {"citation": dict(cited)}}:
                blocks[at]["citations"] = [*(blocks[at].get("citations") or []), cited]
            case {"type": "message_delta", "delta": {"stop_reason": str(word)}}:
                reason = word
            case {"type": "message_stop"}:
                ended = True
    if not (ended and reason):
        raise Stopped("stream", "the stream ended before the message did")
    for at, raw in raws.items():
        if raw:
            blocks[at]["input"] = input_of(raw, blocks[at].get("input"))
    content = [blocks[at] for at in sorted(blocks)]
    return content, [raws[at] for at in sorted(blocks)], reason


async def whole(client: AsyncAnthropic, body: Json) -> tuple[list[Json], list[str], str]:
    """Ask for a reply in one piece."""
    reply: Json = (await client.messages.create(**body)).to_dict(warnings=False)
    if "content" not in reply:
        raise Stopped("provider", f"no message: {reply}")
    return reply["content"], [""] * len(reply["content"]), reply.get("stop_reason") or ""


async def loop(case: Json, client: AsyncAnthropic, emit: Callable[[str], None]) -> str:
    """Ask until the model stops for good."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
    if tools:
        body["tools"] = messages_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        content, written, reason = await (ask(client, body, emit) if case["stream"] else whole(client, body))
        calls = [
            (block["id"], block["name"], raw.strip() or block["input"])
            for block, raw in zip(content, written, strict=True)
            if block["type"] == "tool_use"
        ]
        said = blocks_back(content)
        if reason == "tool_use" and calls:
            ran = await asyncio.gather(*(asyncio.to_thread(run_call, tools, name, raw) for _, name, raw in calls))
            found = {name: result for (_, name, _), result in zip(calls, ran, strict=True)}
            results = [
                {"type": "tool_result", "tool_use_id": id, "content": found[name][0], "is_error": found[name][1]}
                for id, name, _ in calls
            ]
            turns = [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
            body["messages"] = [*body["messages"], *turns]
        elif reason in ("pause_turn", "compaction"):
            body["messages"] = [*body["messages"], *([{"role": "assistant", "content": said}] if said else [])]
        elif reason in ("max_tokens", "model_context_window_exceeded"):
            raise Stopped("truncated", f"stop reason {reason}")
        elif reason == "refusal":
            raise Stopped("refusal", "the model refused")
        else:
            return "".join(block["text"] for block in content if block["type"] == "text")
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop in the event loop of its caller."""

    def start(self) -> Json:
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True}
        return started("messages-results-by-name", ["anthropic-messages"], ["async"], **able)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        url = case["base_url"].removesuffix("/v1")
        try:
            async with AsyncAnthropic(base_url=url, api_key=case["api_key"], timeout=TIMEOUT) as client:
                return {"kind": "value", "text": await loop(case, client, emit)}
        except Exception as error:
            return failure(error)
