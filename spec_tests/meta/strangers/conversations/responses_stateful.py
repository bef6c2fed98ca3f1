"""No fault: an asynchronous loop on Responses with the openai SDK that relies on previous_response_id.

A conversation is the id of its last whole response and what that response still waits for: outputs of its calls. A
cancelled run answers its calls as cancelled, and these outputs go out with the next question. A question that got no
whole response is taken back. Conversations and agents that are busy refuse a second run. The hook is asked about the
calls one by one before any of them runs; a suspended run has run none of them.
"""

# ruff: noqa: BLE001, TRY301
# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx
from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    ToolFailed,
    as_text,
    error_text,
    failure,
    find,
    offered,
    read_arguments,
    responses_text,
    responses_tools,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALLS = ("function_call", "custom_tool_call")


class Gone(Exception):
    """The caller has left the stream."""


@dataclass
class Link:
    """Where a conversation is at the service."""

    instructions: str = ""
    last: str | None = None
    owed: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    asked: int = 0


def entries(message: Json) -> list[Json]:
    """Write a message of the caller as items of an input."""
    calls = [
        {"type": "function_call", "call_id": one["id"], "name": one["name"], "arguments": json.dumps(one["arguments"])}
        for one in message.get("calls", [])
    ]
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["call_id"], "output": message["content"]}]
    if message["role"] == "assistant" and calls and not message["content"]:
        return calls
    return [{"type": "message", "role": message["role"], "content": message["content"]}, *calls]


class Loop:
    """Runs a case on a link."""

    def __init__(self, case: Json, tools: dict[str, Json], link: Link, emit: Callable[[str], None]) -> None:
        self.case, self.tools, self.link, self.emit = case, tools, link, emit
        self.heard = 0
        self.client: Any = None
        self.kit: Any = None

    def question(self) -> list[Json]:
        """Take the instructions out of the prompt, and give the rest."""
        prompt = self.case["messages"]
        if texts := [message["content"] for message in prompt if message["role"] == "system"]:
            self.link.instructions = "\n\n".join(texts)
        return [entry for message in prompt if message["role"] != "system" for entry in entries(message)]

    def body(self, fresh: list[Json]) -> Json:
        link = self.link
        body: Json = {"model": self.case["model"], "input": [*link.owed, *fresh]}
        fixed = {"previous_response_id": link.last, "instructions": link.instructions}
        return body | {name: value for name, value in fixed.items() if value} | self.offer()

    def offer(self) -> Json:
        return {"tools": responses_tools(self.tools)} if self.tools else {}

    async def ask(self, fresh: list[Json]) -> Json:
        """Ask once, and move the link to the response if it came in whole."""
        self.link.asked += 1
        reply = await (self.streamed(fresh) if self.case["stream"] else self.plain(fresh))
        match reply.get("status"):
            case "completed":
                self.moved(reply)
                return reply
            case "incomplete":
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            case status:
                raise Stopped("provider", f"the response is {status}: {reply.get('error')}")

    def moved(self, reply: Json) -> None:
        self.link.last, self.link.owed = reply["id"], []

    async def plain(self, fresh: list[Json]) -> Json:
        return (await self.client.responses.create(**self.body(fresh))).to_dict(warnings=False)

    async def streamed(self, fresh: list[Json]) -> Json:
        done: dict[int, Json] = {}
        async with await self.client.responses.create(**self.body(fresh), stream=True) as stream:
            async for one in stream:
                event = one.to_dict(warnings=False)
                kind = event.get("type")
                if kind == "response.output_item.done":
                    done[event.get("output_index", len(done))] = event["item"]
                elif kind == "response.output_text.delta" and event["delta"]:
                    self.hand_on(event["delta"])
                elif kind in ("response.completed", "response.incomplete", "response.failed"):
                    reply = event["response"]
                    listed = reply.get("output") or []
                    return reply | {"output": listed if len(listed) > len(done) else [done[at] for at in sorted(done)]}
                elif kind == "error":
                    raise Stopped("stream", str(event.get("message") or event.get("error") or event))
        raise Stopped("stream", "the stream ended before the response did")

    def hand_on(self, text: str) -> None:
        self.emit(text)
        self.heard += 1
        if self.heard == self.case["options"].get("leave_after"):
            raise Gone

    async def go(self) -> Json:
        """Ask until the model calls nothing, or until the user has to decide."""
        fresh = self.question()
        if self.case.get("resume"):
            await self.answer(self.link.calls, {one["id"]: one for one in self.case["resume"]["decisions"]})
        while self.link.asked < self.case["options"].get("limit", LIMIT):
            reply = await self.ask(fresh)
            fresh = []
            calls = [item for item in reply["output"] if item["type"] in CALLS]
            if not calls:
                return {"kind": "value", "text": as_text(responses_text(reply["output"]))}
            if not self.case.get("confirm") and (waiting := [call for call in calls if self.is_held(call)]):
                return self.suspended(calls, waiting)
            await self.answer(calls, {})
        self.link.asked = 0
        raise Stopped("limit", "the limit of model calls is reached")

    def is_held(self, call: Json) -> bool:
        """Whether a call would run and needs approval for it."""
        tool = self.tool_of(call)
        if not (tool and tool.get("approval")):
            return False
        try:
            read_arguments(call.get("arguments"))
        except ValueError:
            return False
        return True

    def tool_of(self, call: Json) -> Json | None:
        return find(self.tools, call["name"]) if call["type"] == "function_call" else None

    def asked_about(self, call: Json) -> Json:
        """Describe a call to the user."""
        tool = self.tool_of(call) or call
        return {"id": call["call_id"], "name": tool["name"], "arguments": read_arguments(call.get("arguments"))}

    async def answer(self, calls: list[Json], said: dict[str, Json]) -> None:
        """Run calls in order; what is not reached is owed as cancelled."""
        outputs: list[str] = []
        try:
            decisions = dict(said)
            if self.case.get("confirm"):
                for call in filter(self.is_held, calls):
                    decisions[call["call_id"]] = await self.hook(call)
            for call in calls:
                outputs.append(await self.output(call, decisions))  # noqa: PERF401
        finally:
            outputs += ["Not run to its end: the user cancelled."] * (len(calls) - len(outputs))
            self.owe(calls, outputs)

    def owe(self, calls: list[Json], outputs: list[str]) -> None:
        """Note the outputs for the next request."""
        self.link.owed = [
            {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}
            for call, text in zip(calls, outputs, strict=True)
        ]

    async def hook(self, call: Json) -> Json:
        return (await self.kit.post(self.case["confirm"], json={"call": self.asked_about(call)})).json()

    async def output(self, call: Json, decisions: dict[str, Json]) -> str:
        """Give what the model is told of a call."""
        tool = self.tool_of(call)
        if tool is None:
            return f"Error: there is no tool named {call['name']!r}"
        try:
            arguments = read_arguments(call.get("arguments"))
        except ValueError as error:
            return f"Error: the arguments cannot be read: {error}"
        if tool.get("approval"):
            decision = decisions.get(call["call_id"], {"decision": "reject"})
            if decision["decision"] == "reject":
                return f"Denied. {decision.get('feedback') or 'No reason was given.'}"
            arguments = arguments | (decision.get("parameters") or {})
        try:
            reply = (await self.kit.post(tool["url"], json={"arguments": arguments})).json()
            if wrong := reply.get("error"):
                raise ToolFailed(wrong["type"], wrong["message"])
            return as_text(reply["value"])
        except Exception as error:
            return error_text(error)

    def suspended(self, calls: list[Json], waiting: list[Json]) -> Json:
        self.link.calls = calls
        return {"kind": "suspended", "state": asdict(self.link), "calls": [self.asked_about(call) for call in waiting]}


class Driver:
    """Keeps links and tools by the ids of conversations and agents, and who is at work on them."""

    loop: ClassVar[type[Loop]] = Loop
    able: ClassVar[dict[str, bool]] = {}

    def __init__(self) -> None:
        self.links: dict[str, Link] = {}
        self.tools: dict[str, dict[str, Json]] = {}
        self.busy: Counter[tuple[str, str]] = Counter()

    def start(self) -> Json:
        words = """memory stream chunks limit concurrent conversations histories shared
            cancel leave confirm suspend travels changes"""
        able = dict.fromkeys(words.split(), True) | self.able
        return started(
            f"conversations-responses-stateful-{type(self).__name__}", ["openai-responses"], ["async"], **able
        )

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            with self.occupied(case):
                link = self.link(case)
                link.calls, link.asked = ([], 0) if not case.get("resume") else (link.calls, link.asked)
                async with (
                    AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client,
                    httpx.AsyncClient(timeout=None, trust_env=False) as kit,  # noqa: S113
                ):
                    loop = self.loop(case, self.tools_of(case), link, emit)
                    loop.client, loop.kit = client, kit
                    outcome = await loop.go()
                if "conversation" in case and outcome["kind"] == "suspended":
                    self.busy["waiting", case["conversation"]] += 1
                return outcome
        except Gone as gone:
            return {"kind": "error", "reason": "cancelled", "type": "Gone", "message": str(gone)}
        except Exception as error:
            return failure(error)

    def link(self, case: Json) -> Link:
        """Give the link of the case: that of its state, of its conversation, or a new one."""
        link = Link(**case["resume"]["state"]) if case.get("resume") else Link()
        if "conversation" not in case:
            return link
        if case.get("resume"):
            self.links[case["conversation"]] = link
        return self.links.setdefault(case["conversation"], link)

    def tools_of(self, case: Json) -> dict[str, Json]:
        if "shared" not in case:
            return offered(case["tools"])
        return self.tools.setdefault(case["shared"], offered(case["tools"]))

    @contextmanager
    def occupied(self, case: Json) -> Iterator[None]:
        """Let one run at a time use a conversation or an agent."""
        held = [(kind, case[kind]) for kind in ("conversation", "shared") if kind in case]
        waiting = ("waiting", case.get("conversation", ""))
        if any(self.busy[one] for one in held):
            raise Stopped("other", "a run is at work on it")
        if self.busy[waiting] and not case.get("resume"):
            raise Stopped("other", "a run of the conversation waits for its user")
        del self.busy[waiting]
        self.busy.update(held)
        try:
            yield
        finally:
            self.busy.subtract(held)
