"""No fault: an asynchronous loop on Messages over httpx, whose thread of blocks is always fit to be sent.

Whatever ends a run, its question and its finished rounds stay, and a call without a result is answered as cancelled; of
a turn that did not come in whole nothing stays, and a refused question is taken back. A second run on a busy thread, or
on one that waits for its user, is refused; runs of one agent wait for each other. The hook is asked about all calls of
a turn at once, before any of them runs, and a suspended run has run none of them.
"""

# ruff: noqa: BLE001, TRY301
# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

from service import AsyncService

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import (
    LIMIT,
    Json,
    Stopped,
    ToolFailed,
    as_text,
    blocks_back,
    error_text,
    failure,
    find,
    input_of,
    messages_tools,
    offered,
    read_arguments,
    started,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

CUT = ("max_tokens", "model_context_window_exceeded")
PAUSED = ("pause_turn", "compaction")
USES = ("tool_use", "server_tool_use", "mcp_tool_use")
TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
UNREADABLE = "INVALID_JSON"


@dataclass
class Thread:
    """What was said: the prompt of the system, and the messages; `open` while a run is at it or waits for its user."""

    system: str = ""
    messages: list[Json] = field(default_factory=list)
    container: str | None = None
    state: str = "free"

    def take(self, given: list[Json]) -> None:
        """Add what the caller gives: a whole prompt, or the next question."""
        for message in given:
            if message["role"] == "system":
                self.system = f"{self.system}\n\n{message['content']}".strip()
            elif blocks := blocks_of(message):
                self.say("assistant" if message["role"] == "assistant" else "user", blocks, message["role"] == "tool")

    def say(self, role: str, blocks: list[Json], joins: bool = False) -> None:
        """Add a message; results of one turn go together."""
        last = self.messages[-1] if self.messages else {}
        if joins and last.get("role") == role and last["content"][0]["type"] == "tool_result":
            self.messages[-1] = {"role": role, "content": [*last["content"], *blocks]}
        else:
            self.messages.append({"role": role, "content": blocks})


def blocks_of(message: Json) -> list[Json]:
    """Write a message of the caller in blocks; the service takes no empty text."""
    text = [{"type": "text", "text": message["content"]}] if message["content"].strip() else []
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["call_id"], **({"content": text} if text else {})}]
    uses = [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]}
        for call in message.get("calls", ())
    ]
    return [*text, *uses]


class Incoming:
    """A message that comes in pieces."""

    def __init__(self) -> None:
        self.message: Json = {}
        self.blocks: dict[int, Json] = {}
        self.raw: dict[int, str] = {}
        self.is_whole = False

    def hear(self, event: Json) -> str:
        """Take an event; returns the text in it."""
        match event.get("type"):
            case "message_start":
                self.message = dict(event["message"])
            case "content_block_start":
                self.blocks[event["index"]] = dict(event["content_block"])
                return event["content_block"].get("text") or ""
            case "content_block_delta" if event["index"] in self.blocks:
                return self.grow(event["index"], event["delta"])
            case "message_delta":
                self.message |= {key: value for key, value in (event.get("delta") or {}).items() if value is not None}
            case "message_stop":
                self.is_whole = True
            case "error":
                raise Stopped("provider", str(event.get("error") or event))
        return ""

    def grow(self, at: int, delta: Json) -> str:
        block, kind = self.blocks[at], delta["type"]
        if name := TEXTS.get(kind):
            block[name] = block.get(name, "") + delta[name]
            return delta[name] if name == "text" else ""
        if kind == "input_json_delta":
            self.raw[at] = self.raw.get(at, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        return ""

    def whole(self) -> Json:
        if not self.is_whole:
            raise Stopped("stream", "the stream ended before the message did")
        content = []
        for at, block in sorted(self.blocks.items()):
            uses = {"input": input_of(self.raw.get(at, ""), block.get("input"))} if block["type"] in USES else {}
            content.append(block | uses)
        return self.message | {"content": content}


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    """Yield the events of a stream, whose lines end in CR, LF or both."""
    rest, after_cr = b"", False
    data: list[str] = []
    async for chunk in chunks:
        fresh = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, rest = re.split(rb"\r\n|\n|\r", rest + fresh)
        for line in lines:
            name, _, value = line.decode("utf-8", "replace").lstrip("\ufeff").partition(":")
            if name == "data":
                data.append(value.removeprefix(" "))
            elif not line and data:
                event = json.loads("\n".join(data))
                data = []
                if isinstance(event, dict):
                    yield event


class Agent:
    """What is common to the runs of an agent."""

    def __init__(self, case: Json) -> None:
        self.model = case["model"]
        self.tools = offered(case["tools"])
        self.turnstile = asyncio.Lock()


class Run:
    """One run on a thread."""

    def __init__(self, agent: Agent, thread: Thread, case: Json, emit: Callable[[str], None]) -> None:
        self.agent, self.thread, self.case, self.emit = agent, thread, case, emit
        self.asked = 0
        self.heard = 0
        self.service = AsyncService(case)
        self.kit = httpx.AsyncClient(timeout=None, trust_env=False)  # noqa: S113

    # -- the model

    def body(self) -> Json:
        thread, tools = self.thread, messages_tools(self.agent.tools)
        body: Json = {"model": self.agent.model, "max_tokens": 4096, "messages": thread.messages}
        fixed = {"system": thread.system, "tools": tools, "container": thread.container, "stream": self.case["stream"]}
        return body | {name: value for name, value in fixed.items() if value}

    async def ask(self) -> Json:
        """Ask once; returns the message."""
        self.asked += 1
        async with self.service.listened(self.body()) as response:
            if not self.case["stream"]:
                whole = json.loads(await response.aread())
                return whole if isinstance(whole, dict) else {}
            incoming = Incoming()
            async with aclosing(response.aiter_bytes()) as chunks:
                async for event in events(chunks):
                    if text := incoming.hear(event):
                        self.hand_on(text)
                    if incoming.is_whole:
                        break
            return incoming.whole()

    def hand_on(self, text: str) -> None:
        """Give text to the caller, who may leave."""
        self.emit(text)
        self.heard += 1
        if self.heard == self.case["options"].get("leave_after"):
            raise asyncio.CancelledError("the caller has left")

    # -- the loop

    async def go(self) -> Json:
        """Ask and run until there is an answer, or a question for the user."""
        while self.asked < self.case["options"].get("limit", LIMIT):
            message = await self.ask()
            content, reason = message.get("content"), message.get("stop_reason")
            if not isinstance(content, list):
                raise Stopped("provider", f"no content: {message.get('error') or message}")
            if reason in CUT:
                raise Stopped("truncated", f"stop reason {reason}")
            if reason == "refusal":
                raise Stopped("refusal", str(message.get("stop_details") or "the model refused"))
            self.thread.container = (message.get("container") or {}).get("id") or self.thread.container
            calls = [block for block in content if block["type"] == "tool_use"]
            if turn := blocks_back(content):
                self.thread.say("assistant", turn)
            if reason in PAUSED:
                continue
            if reason != "tool_use" or not calls:
                return {"kind": "value", "text": "".join(one["text"] for one in content if one["type"] == "text")}
            if waiting := await self.turn(calls, {}):
                return waiting
        raise Stopped("limit", "the limit of model calls is reached")

    async def turn(self, calls: list[Json], said: dict[str, Json]) -> Json | None:
        """Answer the calls of a turn, or suspend the run before any of them."""
        results: list[Json | None] = [None] * len(calls)
        try:
            words = [self.checked(call) for call in calls]
            asks = [at for at, word in enumerate(words) if not isinstance(word, str) and word[0].get("approval")]
            if asks and not said and not self.case.get("confirm"):
                return self.suspended([calls[at] for at in asks])
            decisions = await self.decided({at: calls[at] for at in asks}, said)
            async with asyncio.TaskGroup() as group:
                for at, (call, word) in enumerate(zip(calls, words, strict=True)):
                    group.create_task(self.into(results, at, call, word, decisions.get(at)))
        except BaseException:
            self.close(calls, results)
            raise
        self.close(calls, results)
        return None

    def close(self, calls: list[Json], results: list[Json | None]) -> None:
        """Answer every call, those without a result too."""
        undone = "Cancelled by the user before it has ended."
        self.thread.say("user", [one or block(call, undone, True) for call, one in zip(calls, results, strict=True)])

    def checked(self, call: Json) -> str | tuple[Json, Json]:
        """Give the tool and the arguments of a call, or what is wrong with them."""
        tool, given = find(self.agent.tools, call["name"]), call.get("input")
        if tool is None:
            return f"Error: there is no tool named {call['name']!r}"
        try:
            return tool, read_arguments(given[UNREADABLE] if isinstance(given, dict) and UNREADABLE in given else given)
        except ValueError as error:
            return f"Error: the input cannot be read: {error}"

    async def decided(self, calls: dict[int, Json], said: dict[str, Json]) -> dict[int, Json]:
        """Give the decisions by the places of the calls: those that are there, or those of the hook."""
        if not self.case.get("confirm"):
            return {at: said[call["id"]] for at, call in calls.items() if call["id"] in said}
        replies = await asyncio.gather(*(self.hook(call) for call in calls.values()))
        return dict(zip(calls, replies, strict=True))

    async def hook(self, call: Json) -> Json:
        asked = {"id": call["id"], "name": self.own_name(call), "arguments": call.get("input") or {}}
        reply = await self.kit.post(self.case["confirm"], json={"call": asked})
        decision: Json = reply.json()
        return decision

    def own_name(self, call: Json) -> str:
        tool = find(self.agent.tools, call["name"])
        return tool["name"] if tool else call["name"]

    async def into(self, results: list[Json | None], at: int, call: Json, word: Any, decision: Json | None) -> None:
        """Put the result of a call in its place."""
        if isinstance(word, str):
            results[at] = block(call, word, True)
            return
        tool, arguments = word
        if tool.get("approval") and (decision is None or decision["decision"] == "reject"):
            because = (decision or {}).get("feedback") or "no reason given"
            results[at] = block(call, f"The user does not allow this: {because}", True)
            return
        changes = (decision or {}).get("parameters") or {}
        text, failed = await self.use(tool, arguments | changes)
        results[at] = block(call, text, failed)

    async def use(self, tool: Json, arguments: Json) -> tuple[str, bool]:
        """Use a tool; returns the text for the model, and whether it failed."""
        try:
            reply = (await self.kit.post(tool["url"], json={"arguments": arguments})).json()
            if wrong := reply.get("error"):
                raise ToolFailed(wrong["type"], wrong["message"])
            return as_text(reply["value"]), False
        except Exception as error:
            return error_text(error), True

    # -- suspension

    def suspended(self, calls: list[Json]) -> Json:
        thread = self.thread
        state = {
            "system": thread.system,
            "messages": thread.messages,
            "container": thread.container,
            "asked": self.asked,
        }
        waiting = [
            {"id": call["id"], "name": self.own_name(call), "arguments": call.get("input") or {}} for call in calls
        ]
        return {"kind": "suspended", "state": state, "calls": waiting}

    async def resume(self) -> Json:
        """Go on where the run was suspended."""
        state, thread = self.case["resume"]["state"], self.thread
        thread.system, thread.container = state["system"], state["container"]
        thread.messages = list(state["messages"])
        self.asked = state["asked"]
        calls = [one for one in thread.messages[-1]["content"] if one["type"] == "tool_use"]
        await self.turn(calls, {one["id"]: one for one in self.case["resume"]["decisions"]})
        return await self.go()

    async def close_lines(self) -> None:
        await self.kit.aclose()
        await self.service.talker.aclose()


def block(call: Json, text: str, failed: bool) -> Json:
    """Write the result of a call."""
    found: Json = {"type": "tool_result", "tool_use_id": call["id"]}
    if call.get("toolset_name"):
        found["toolset_name"] = call["toolset_name"]
    return found | ({"content": text} if text else {}) | ({"is_error": True} if failed else {})


class Driver:
    """Keeps threads and agents by their ids."""

    run_of: ClassVar[type[Run]] = Run
    agent: ClassVar[type[Agent]] = Agent
    thread: ClassVar[type[Thread]] = Thread
    able: ClassVar[dict[str, bool]] = {}

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.agents: dict[str, Agent] = {}

    def start(self) -> Json:
        words = """stream chunks limit concurrent parallel conversations histories shared
            cancel leave confirm suspend travels changes"""
        able = dict.fromkeys(words.split(), True) | self.able
        return started(f"conversations-messages-async-{type(self).__name__}", ["anthropic-messages"], ["async"], **able)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        thread = (
            self.threads.setdefault(case["conversation"], self.thread()) if "conversation" in case else self.thread()
        )
        agent = self.agents.setdefault(case["shared"], self.agent(case)) if "shared" in case else self.agent(case)
        run = self.run_of(agent, thread, case, emit)
        try:
            async with (
                self.busy(thread, bool(case.get("resume"))),
                agent.turnstile if "shared" in case else nullcontext(),
            ):
                return await self.played(run)
        except Exception as error:
            return failure(error)
        finally:
            await run.close_lines()

    @asynccontextmanager
    async def busy(self, thread: Thread, resumes: bool) -> AsyncIterator[None]:
        """Hold the thread for one run."""
        if thread.state == "busy" or (thread.state == "waiting" and not resumes):
            raise Stopped("other", f"the conversation is {thread.state}")
        thread.state = "busy"
        try:
            yield
        finally:
            if thread.state == "busy":
                thread.state = "free"

    async def played(self, run: Run) -> Json:
        """Play a run; a question that the model refuses is taken back."""
        before = len(run.thread.messages)
        run.thread.take(run.case["messages"])
        try:
            outcome = await (run.resume() if run.case.get("resume") else run.go())
        except Stopped as stopped:
            if stopped.word == "refusal":
                del run.thread.messages[before:]
            raise
        if outcome["kind"] == "suspended":
            run.thread.state = "waiting"
        return outcome
