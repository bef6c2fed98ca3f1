"""No fault: an asynchronous loop on Chat Completions with the openai SDK, plain and streamed.

It follows Chat Completions (create, streaming) and the function calling guide: fragments are joined by index, calls of
a turn run at the same time, and truncated, filtered, refused and incomplete turns are reported.
"""

# ruff: noqa: BLE001
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, as_text, chat_tools, chat_turn, failure, offered, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Turn:
    """A turn of the model, as far as it has come."""

    texts: dict[str, str] = field(default_factory=dict)
    calls: list[Json] = field(default_factory=list)
    slots: dict[Any, Json] = field(default_factory=dict)
    reason: str = ""

    def add(self, choice: Json) -> str:
        """Add a choice of a chunk, and return the text that it brought."""
        delta = choice.get("delta") or {}
        for kind in ("content", "refusal", "reasoning_content"):
            if delta.get(kind):
                self.texts[kind] = self.texts.get(kind, "") + delta[kind]
        for fragment in delta.get("tool_calls") or []:
            self.add_call(fragment)
        self.reason = self.reason or choice.get("finish_reason") or ""
        return delta.get("content") or ""

    def add_call(self, fragment: Json) -> None:
        """Add a fragment to its call, which another id in the same place begins anew."""
        slot, id, said = fragment.get("index"), fragment.get("id"), fragment.get("function") or {}
        call = self.slots.get(slot)
        if call is None or (id and call["id"] and call["id"] != id):
            call = next((call for call in self.calls if id and call["id"] == id), None)
        if call is None:
            call = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self.calls.append(call)
        self.slots[slot] = call
        call["id"] = call["id"] or id or ""
        if said.get("name") and said["name"] != call["function"]["name"]:
            call["function"]["name"] += said["name"]
        call["function"]["arguments"] += said.get("arguments") or ""

    def message(self) -> Json:
        """Give the whole message."""
        return {kind: as_text(text) for kind, text in self.texts.items()} | {"tool_calls": self.calls}


async def streamed(client: AsyncOpenAI, body: Json, emit: Callable[[str], None]) -> tuple[Json, str]:
    """Ask for a stream."""
    turn = Turn()
    async for item in await client.chat.completions.create(**body, stream=True):
        chunk: Json = item.to_dict(warnings=False)
        for choice in chunk.get("choices") or []:
            if text := turn.add(choice):
                emit(text)
    if not turn.reason:
        raise Stopped("stream", "the stream ended without a finish reason")
    return turn.message(), turn.reason


async def whole(client: AsyncOpenAI, body: Json) -> tuple[Json, str]:
    """Ask for a reply in one piece."""
    reply: Json = (await client.chat.completions.create(**body)).to_dict(warnings=False)
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    choice = reply["choices"][0]
    return choice["message"], choice.get("finish_reason") or "stop"


async def loop(case: Json, client: AsyncOpenAI, emit: Callable[[str], None]) -> str:
    """Ask, run, and ask again."""
    tools, history = offered(case["tools"]), list(case["messages"])
    for _ in range(case["options"].get("limit", LIMIT)):
        body: Json = {"model": case["model"], "messages": history}
        if tools:
            body["tools"] = chat_tools(tools)
        message, reason = await (streamed(client, body, emit) if case["stream"] else whole(client, body))
        if message.get("refusal"):
            raise Stopped("refusal", message["refusal"])
        if reason in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {reason}")
        if reason == "function_call":
            raise Stopped("other", "calls of the old kind are not known here")
        turn = chat_turn(message)
        turn["tool_calls"] = [
            call | {"id": call.get("id") or f"call_{uuid.uuid4().hex[:24]}"} for call in turn["tool_calls"]
        ]
        if not turn["tool_calls"]:
            return message.get("content") or ""
        history.append(turn)
        history += await asyncio.gather(*(result(tools, call) for call in turn["tool_calls"]))
    raise Stopped("limit", "too many turns")


async def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and write its result."""
    function = call.get("function") or {}
    text, _ = await asyncio.to_thread(run_call, tools, function.get("name"), function.get("arguments"))
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


class Driver:
    """Runs the loop in the event loop of its caller."""

    def start(self) -> Json:
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True}
        return started("right-chat-async-stream", ["openai-chat"], ["async"], **able)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            async with AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client:
                return {"kind": "value", "text": await loop(case, client, emit)}
        except Exception as error:
            return failure(error)
