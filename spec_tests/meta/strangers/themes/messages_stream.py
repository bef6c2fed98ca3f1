"""No fault: an asynchronous loop on Messages, plain and streamed, made of asynchronous generators."""

# ruff: noqa: BLE001
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from service import AsyncService

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import (
    LIMIT,
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
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

CUT = ("max_tokens", "model_context_window_exceeded")
USES = ("tool_use", "server_tool_use", "mcp_tool_use")
PAUSED = ("pause_turn", "compaction")
JOINED = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
SEARCH: Json = {"type": "web_search_20250305", "name": "web_search"}


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """Yield the lines of a stream, which end in CR, LF or both."""
    rest, after_cr = b"", False
    async for chunk in chunks:
        fresh = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, rest = re.split(rb"\r\n|\n|\r", rest + fresh)
        for line in lines:
            yield line.decode("utf-8", "replace").lstrip("\ufeff")


async def events_of(lines: AsyncIterator[str]) -> AsyncGenerator[Json]:
    """Yield the events of a stream."""
    data: list[str] = []
    async for line in lines:
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            event = json.loads("\n".join(data))
            data = []
            if isinstance(event, dict):
                yield event


class Talk:
    """One run: its history, and the turn that is coming in."""

    def __init__(self, case: Json, service: AsyncService, emit: Callable[[str], None]) -> None:
        self.case, self.service, self.emit = case, service, emit
        self.tools = offered(case["tools"])
        self.hosted = [tool.get("tool", SEARCH) for tool in case.get("hosted_tools", [])]
        self.fixed: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
        self.history: list[Json] = self.fixed.pop("messages")
        self.raws: dict[int, str] = {}

    def system(self) -> str:
        """Give the system prompt of the next request."""
        return self.fixed.get("system", "")

    def body(self) -> Json:
        tools = [*messages_tools(self.tools), *self.hosted]
        parts = {"system": self.system(), "tools": tools, "messages": self.history, "stream": self.case["stream"]}
        return self.fixed | {key: value for key, value in parts.items() if value}

    async def ask(self) -> Json:
        """Ask the model once, and give its message as one piece."""
        self.raws = {}
        async with self.service.listened(self.body()) as response:
            if not self.case["stream"]:
                message: Json = json.loads(await response.aread())
                return message
            async with aclosing(lines_of(response.aiter_bytes())) as lines, aclosing(events_of(lines)) as events:
                return await self.gathered(events)

    async def gathered(self, events: AsyncIterator[Json]) -> Json:
        """Gather a message from its events."""
        message: Json = {}
        blocks: dict[int, Json] = {}
        async for event in events:
            match event.get("type"):
                case "message_start":
                    message = self.begun(event["message"])
                case "content_block_start":
                    blocks[event["index"]] = dict(event["content_block"])
                    if event["content_block"].get("text"):
                        self.emit(event["content_block"]["text"])
                case "content_block_delta" if event["index"] in blocks:
                    self.add(event["index"], blocks[event["index"]], event["delta"])
                case "message_delta":
                    self.delta(message, event.get("delta") or {})
                case "error":
                    raise Stopped("provider", str(event.get("error") or event))
                case "message_stop":
                    return message | {"content": self.wholes(blocks)}
        raise Stopped("stream", "the stream ended before the message did")

    def begun(self, message: Json) -> Json:
        """Give what is known of a message when it begins."""
        return dict(message)

    def delta(self, message: Json, delta: Json) -> None:
        """Take what is known of a message when it ends."""
        message.update({key: value for key, value in delta.items() if value is not None})

    def add(self, at: int, block: Json, delta: Json) -> None:
        """Add a delta to its block."""
        if name := JOINED.get(delta["type"]):
            block[name] = block.get(name, "") + delta[name]
            if name == "text" and delta[name]:
                self.emit(delta[name])
        elif delta["type"] == "input_json_delta":
            self.raws[at] = self.raws.get(at, "") + delta["partial_json"]
        elif delta["type"] == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]

    def wholes(self, blocks: dict[int, Json]) -> list[Json]:
        """Give all blocks in order, and count what was written from there on by their places in it."""
        content = [self.whole(at, blocks[at]) for at in sorted(blocks)]
        self.raws = {place: self.raws.get(at, "") for place, at in enumerate(sorted(blocks))}
        return content

    def whole(self, at: int, block: Json) -> Json:
        """Give a block as it goes back: an input is an object, whatever was written."""
        if block["type"] not in USES:
            return block
        return block | {"input": input_of(self.raws.get(at, ""), block.get("input"))}

    async def run(self) -> str:
        """Ask until the model stops for good."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            message = await self.ask()
            content, reason = message.get("content"), message.get("stop_reason")
            if not isinstance(content, list):
                raise Stopped("provider", f"no content: {message.get('error') or message}")
            if isinstance(message.get("container"), dict):
                self.fixed["container"] = message["container"]["id"]
            if reason in CUT:
                raise Stopped("truncated", f"stop reason {reason}")
            if reason == "refusal":
                raise Stopped("refusal", str(message.get("stop_details") or "the model refused"))
            calls = [(at, block) for at, block in enumerate(content) if block["type"] == "tool_use"]
            if not (reason in PAUSED or (reason == "tool_use" and calls)):
                return "".join(block["text"] for block in content if block["type"] == "text")
            if turn := blocks_back(content):
                self.history.append({"role": "assistant", "content": turn})
            if reason not in PAUSED:
                results = [await self.result(call, self.raws.get(at, "")) for at, call in calls]
                self.history.append({"role": "user", "content": results})
        raise Stopped("limit", "the limit of model calls is reached")

    async def result(self, call: Json, raw: str) -> Json:
        """Run a call, and write its block."""
        text, failed = await self.outcome_of(call, raw if raw.strip() else call.get("input"))
        block: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        if call.get("toolset_name"):
            block["toolset_name"] = call["toolset_name"]
        return block | ({"is_error": True} if failed else {})

    async def outcome_of(self, call: Json, arguments: Any) -> tuple[str, bool]:
        return await asyncio.to_thread(run_call, self.tools, call["name"], arguments)


class Driver:
    """Talks in the event loop of its caller."""

    talk: ClassVar[type[Talk]] = Talk

    def start(self) -> Json:
        able = {
            "stream": True,
            "chunks": True,
            "limit": True,
            "concurrent": True,
            "hosted": True,
            "hosted_others": True,
        }
        return started(f"themes-{type(self).__name__}", ["anthropic-messages"], ["async"], **able)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        service = AsyncService(case)
        try:
            return {"kind": "value", "text": await self.talk(case, service, emit).run()}
        except Exception as error:
            return failure(error)
        finally:
            await service.talker.aclose()
