"""No fault: an asynchronous loop on Responses with the openai SDK that sends all items with every request.

A conversation is a list of items, to which each run adds its own when it is over, however it ends: runs of one
conversation may overlap, and each sees what was there when it began. Text that a cancelled or cut turn has brought
stays as a message, a question stays whatever follows, and calls without a result are answered as interrupted. Calls
that need no approval start at once, the others as soon as the hook agrees; a suspended run has run the former.
"""

# ruff: noqa: BLE001, TRY301
# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
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
    from collections.abc import AsyncGenerator, Callable

CALLS = ("function_call", "custom_tool_call")


class Left(Exception):
    """The caller has left the stream."""


def items_of(message: Json) -> list[Json]:
    """Write a message of the caller as items."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["call_id"], "output": message["content"]}]
    calls = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
        }
        for call in message.get("calls", ())
    ]
    said = [{"role": message["role"], "content": message["content"]}] if message["content"] or not calls else []
    return [*said, *calls]


class Assistant:
    """An agent: its model, its tools, and how to ask; it knows nothing of any run."""

    def __init__(self, case: Json) -> None:
        self.model = case["model"]
        self.tools = offered(case["tools"])

    def body(self, items: list[Json]) -> Json:
        body: Json = {"model": self.model, "input": items, "store": False, "include": ["reasoning.encrypted_content"]}
        return body | ({"tools": responses_tools(self.tools)} if self.tools else {})


class Hand:
    """What happens to one call: a task, or a question that is open."""

    def __init__(self, number: int, call: Json, tools: dict[str, Json]) -> None:
        self.name = f"approval-{number}"
        self.call = call
        self.output: str | None = None
        self.tool: Json | None = None
        self.arguments: Json = {}
        self.tool = find(tools, call["name"]) if call["type"] == "function_call" else None
        if self.tool is None:
            self.output = f"Error: there is no tool named {call['name']!r}"
            return
        try:
            self.arguments = read_arguments(call.get("arguments"))
        except ValueError as error:
            self.output = f"Error: the arguments cannot be read: {error}"

    @property
    def needs_approval(self) -> bool:
        return self.output is None and self.tool is not None and bool(self.tool.get("approval"))

    @property
    def question(self) -> Json:
        return {"id": self.name, "name": (self.tool or self.call)["name"], "arguments": self.arguments}

    def item(self, otherwise: str) -> Json:
        text = otherwise if self.output is None else self.output
        return {"type": f"{self.call['type']}_output", "call_id": self.call["call_id"], "output": text}


class Run:
    """One run: the items that were there, and its own."""

    def __init__(self, assistant: Assistant, case: Json, before: list[Json], clients: tuple[Any, Any]) -> None:
        self.assistant, self.case = assistant, case
        self.client, self.kit = clients
        self.before = list(before)
        self.own = [item for message in case["messages"] for item in items_of(message)]
        self.asked = 0
        self.outcome: Json = {}

    @property
    def items(self) -> list[Json]:
        return [*self.before, *self.own]

    # -- the model

    async def response(self) -> AsyncGenerator[str | Json]:
        """Yield the pieces of text of a response, and at last the response."""
        self.asked += 1
        body = self.assistant.body(self.items)
        if not self.case["stream"]:
            reply = await self.client.responses.create(**body)
            yield reply.to_dict(warnings=False)
            return
        done: dict[int, Json] = {}
        said = ""
        try:
            async with await self.client.responses.create(**body, stream=True) as stream:
                async for one in stream:
                    event = one.to_dict(warnings=False)
                    match event.get("type"):
                        case "response.output_item.done":
                            done[event.get("output_index", len(done))] = event["item"]
                        case "response.output_text.delta" if event["delta"]:
                            said += event["delta"]
                            yield event["delta"]
                        case "response.completed" | "response.incomplete" | "response.failed":
                            whole = event["response"]
                            items = [done[at] for at in sorted(done)]
                            listed = whole.get("output") or []
                            said = ""
                            yield whole | {"output": listed if len(listed) > len(items) else items}
                            return
                        case "error":
                            raise Stopped("stream", str(event.get("message") or event.get("error") or event))
            raise Stopped("stream", "the stream ended before the response did")
        except BaseException:
            self.keep_partial(said)
            raise

    def keep_partial(self, said: str) -> None:
        """Keep what was said before the turn broke off."""
        if said.strip():
            self.own.append({"role": "assistant", "content": said})

    # -- the loop

    async def go(self) -> AsyncGenerator[str]:
        """Yield text until the outcome is there."""
        while self.asked < self.case["options"].get("limit", LIMIT):
            reply: Json = {}
            async with aclosing(self.response()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        yield piece
                    else:
                        reply = piece
            output, status = reply.get("output") or [], reply.get("status")
            if status == "incomplete":
                self.keep_partial(
                    "".join(part.get("text") or "" for one in output for part in one.get("content") or ())
                )
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            if status != "completed":
                raise Stopped("provider", f"the response is {status}: {reply.get('error')}")
            text = as_text(responses_text(output))
            self.own += output
            calls = [item for item in output if item["type"] in CALLS]
            if not calls:
                self.outcome = {"kind": "value", "text": text}
                return
            await self.handle([Hand(at, call, self.assistant.tools) for at, call in enumerate(calls)], {})
            if self.outcome:
                return
        raise Stopped("limit", "the limit of model calls is reached")

    async def handle(self, hands: list[Hand], said: dict[str, Json]) -> None:
        """Answer the calls of a turn, or suspend the run for some of them."""
        hook = self.case.get("confirm")
        later = [hand for hand in hands if hand.needs_approval and not hook and hand.name not in said]
        tasks = [
            asyncio.create_task(self.one(hand, said.get(hand.name)))
            for hand in hands
            if hand.output is None and hand not in later
        ]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.finish(hands)
            raise
        if later:
            self.suspend(hands, later)
        else:
            self.finish(hands)

    def finish(self, hands: list[Hand]) -> None:
        self.own += [hand.item("The user interrupted this call.") for hand in hands]

    async def one(self, hand: Hand, decision: Json | None) -> None:
        """Ask about a call where that is needed, and run it."""
        if hand.needs_approval and decision is None:
            decision = (await self.kit.post(self.case["confirm"], json={"call": hand.question})).json()
        if decision and decision["decision"] == "reject":
            hand.output = " ".join(filter(None, ["Rejected by the user.", decision.get("feedback")]))
            return
        changes = (decision or {}).get("parameters") or {}
        hand.output = await self.use(hand.tool or {}, {**hand.arguments, **changes})

    async def use(self, tool: Json, arguments: Json) -> str:
        try:
            reply = (await self.kit.post(tool["url"], json={"arguments": arguments})).json()
            if wrong := reply.get("error"):
                raise ToolFailed(wrong["type"], wrong["message"])
            return as_text(reply["value"])
        except Exception as error:
            return error_text(error)

    # -- suspension

    def suspend(self, hands: list[Hand], later: list[Hand]) -> None:
        outputs = [hand.output for hand in hands]
        state = {"before": self.before, "own": list(self.own), "outputs": outputs, "asked": self.asked}
        self.outcome = {"kind": "suspended", "state": state, "calls": [hand.question for hand in later]}

    async def resume(self) -> AsyncGenerator[str]:
        """Go on with a suspended run, behind whatever its conversation has said meanwhile."""
        state = self.case["resume"]["state"]
        self.before = self.before if len(self.before) > len(state["before"]) else list(state["before"])
        self.own, self.asked = list(state["own"]), state["asked"]
        calls = [item for item in self.own if item.get("type") in CALLS][-len(state["outputs"]) :]
        hands = [Hand(at, call, self.assistant.tools) for at, call in enumerate(calls)]
        for hand, output in zip(hands, state["outputs"], strict=True):
            hand.output = output
        await self.handle(hands, {one["id"]: one for one in self.case["resume"]["decisions"]})
        if self.outcome:
            return
        async with aclosing(self.go()) as pieces:
            async for piece in pieces:
                yield piece


class Driver:
    """Keeps agents and the items of conversations by their ids."""

    assistant: ClassVar[type[Assistant]] = Assistant
    run_of: ClassVar[type[Run]] = Run
    able: ClassVar[dict[str, bool]] = {}

    def __init__(self) -> None:
        self.items: dict[str, list[Json]] = {}
        self.assistants: dict[str, Assistant] = {}

    def start(self) -> Json:
        words = """stream chunks limit concurrent parallel conversations histories shared
            cancel leave confirm suspend travels changes"""
        able = dict.fromkeys(words.split(), True) | self.able
        return started(f"conversations-responses-items-{type(self).__name__}", ["openai-responses"], ["async"], **able)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        items = self.items.setdefault(case["conversation"], []) if "conversation" in case else []
        async with (
            AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client,
            httpx.AsyncClient(timeout=None, trust_env=False) as kit,  # noqa: S113
        ):
            run = self.run_of(self.assistant_for(case), case, items, (client, kit))
            try:
                await self.listen(run, emit)
            except Left:
                return {"kind": "error", "reason": "cancelled", "type": "Left", "message": "the caller has left"}
            except Exception as error:
                return failure(error)
            finally:
                self.keep(run, items)
        return run.outcome

    def assistant_for(self, case: Json) -> Assistant:
        if "shared" in case:
            return self.assistants.setdefault(case["shared"], self.assistant(case))
        return self.assistant(case)

    def keep(self, run: Run, items: list[Json]) -> None:
        """Add what a run has said to its conversation, unless it waits and will say more."""
        if run.outcome.get("kind") != "suspended":
            if not items:
                items += run.before
            items += run.own

    async def listen(self, run: Run, emit: Callable[[str], None]) -> None:
        """Hand on what comes, and leave when the caller has enough."""
        enough = run.case["options"].get("leave_after", -1)
        async with aclosing(run.resume() if run.case.get("resume") else run.go()) as pieces:
            async for piece in pieces:
                emit(piece)
                enough -= 1
                if enough == 0:
                    raise Left
