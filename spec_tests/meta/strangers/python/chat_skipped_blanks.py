"""Pieces of a stream that are only white space are skipped, so that words and lines run together.

Chat Completions, streaming, delta.content: the answer is the concatenation of all pieces, unchanged.
Reported as vybestack/llxprt-code#2555 and crmne/ruby_llm#636. Plain replies are handled correctly.
"""

# ruff: noqa: BLE001
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, failure, offered, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable


async def whole(client: AsyncOpenAI, body: Json) -> tuple[Json, str]:
    """Request a plain reply."""
    reply = (await client.chat.completions.create(**body)).to_dict(warnings=False)
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    choice: Json = reply["choices"][0]
    return choice["message"], choice.get("finish_reason") or "stop"


async def streamed(client: AsyncOpenAI, body: Json, emit: Callable[[str], None]) -> tuple[Json, str]:
    """Request a stream, and assemble its turn."""
    texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
    calls: dict[Any, Json] = {}
    latest: dict[Any, Any] = {}
    reason = ""
    async for event in await client.chat.completions.create(**body, stream=True):
        chunk: Json = event.to_dict(warnings=False)
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            for kind, pieces in texts.items():
                piece = delta.get(kind)
                if piece and piece.strip():
                    pieces.append(piece)
                    if kind == "content":
                        emit(piece)
            for part in delta.get("tool_calls") or []:
                slot, said = part.get("index"), part.get("function") or {}
                key = latest.get(slot, slot)
                if part.get("id") and key in calls and calls[key]["id"] not in (None, part["id"]):
                    key = latest[slot] = (slot, part["id"])
                fresh = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
                call = calls.setdefault(key, fresh)
                call["id"] = call["id"] or part.get("id")
                if said.get("name") and said["name"] != call["function"]["name"]:
                    call["function"]["name"] += said["name"]
                call["function"]["arguments"] += said.get("arguments") or ""
            reason = reason or choice.get("finish_reason") or ""
    if not reason:
        raise Stopped("stream", "the stream ended without a finish reason")
    message = {kind: "".join(pieces) for kind, pieces in texts.items() if pieces}
    return message | {"tool_calls": list(calls.values())}, reason


async def loop(case: Json, emit: Callable[[str], None]) -> str:
    """Ask, run, and ask again."""
    tools, history = offered(case["tools"]), list(case["messages"])
    async with AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client:
        for _ in range(case["options"].get("limit", LIMIT)):
            body: Json = {"model": case["model"], "messages": history}
            if tools:
                body["tools"] = chat_tools(tools)
            message, reason = await (streamed(client, body, emit) if case["stream"] else whole(client, body))
            if message.get("refusal"):
                raise Stopped("refusal", message["refusal"])
            if reason in ("length", "content_filter"):
                raise Stopped("truncated", f"finish reason {reason}")
            turn = chat_turn(message)
            if not turn["tool_calls"]:
                return message.get("content") or ""
            history.append(turn)
            for call in turn["tool_calls"]:
                function = call.get("function") or {}
                ran = await asyncio.to_thread(run_call, tools, function.get("name"), function.get("arguments"))
                history.append({"role": "tool", "tool_call_id": call["id"], "content": ran[0]})
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop in the event loop of its caller."""

    def start(self) -> Json:
        wires = ["openai-chat"]
        return started("chat-skipped-blanks", wires, ["async"], stream=True, chunks=True, limit=True, concurrent=True)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            return {"kind": "value", "text": await loop(case, emit)}
        except Exception as error:
            return failure(error)
