"""A simulator in this process, with the model and the dispatch endpoint that are outside of it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import httpx
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from looptck_reference.server import DOCUMENT, Config, Limits, ServerDialect, Simulator
from looptck_reference.server.http.app import create_app

Json = dict[str, Any]
T = TypeVar("T")
Dispatch = Callable[[Json], httpx.Response | Awaitable[httpx.Response]]

UPSTREAM = "http://model.test/v1"
DISPATCH = "http://tools.test/run"
QUESTION: Json = {"role": "user", "content": "How is the weather in Paris?"}
WEATHER: Json = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
ASKS: dict[str, Json] = {
    "/v1/chat/completions": {"messages": [QUESTION], "tools": [WEATHER]},
    "/v1/messages": {
        "messages": [QUESTION],
        "max_tokens": 9,
        "tools": [{"name": "weather", "input_schema": WEATHER["function"]["parameters"]}],
    },
    "/v1/responses": {"input": QUESTION["content"], "tools": [{"type": "function", **WEATHER["function"]}]},
}
"""The same request to each API."""
USAGE = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}


def call(name: str, arguments: Any = None, call_id: str = "call_1") -> Json:
    """A call of the model; text goes as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, separators=(",", ":"))
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def turn(text: str | None, *calls: Json, usage: Json | None = USAGE, finish: str | None = None) -> Json:
    """A reply of the model."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


class Gate:
    """Holds whoever comes to it until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()


class Outside:
    """The model, which says its turns one after the other, and the endpoint that runs tools."""

    def __init__(self) -> None:
        self.turns: deque[Json | httpx.Response] = deque()
        self.asked: list[Json] = []
        self.asked_with: list[httpx.Headers] = []
        self.dispatched: list[httpx.Request] = []
        self.dispatch: Dispatch = lambda _: httpx.Response(200, json={"content": "18 degrees"})
        self.gate: Gate | None = None
        """Holds the replies of the model."""

    def plays(self, *turns: Json | httpx.Response) -> None:
        """These, behind what is left of the others."""
        self.turns.extend(turns)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread())
        if request.url.host == "tools.test":
            self.dispatched.append(request)
            answer = self.dispatch(body)
            return answer if isinstance(answer, httpx.Response) else await answer
        self.asked.append(body)
        self.asked_with.append(request.headers)
        if self.gate is not None:
            self.gate.reached.set()
            await self.gate.opened.wait()
        reply = self.turns.popleft()
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    @property
    def histories(self) -> list[list[Json]]:
        """The messages of each inference."""
        return [body["messages"] for body in self.asked]


class Application:
    """The application of a simulator. All have the same one, for it takes long to make; worlds take turns."""

    _shared: ClassVar[FastAPI | None] = None

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._shared is None:
            Application._shared = create_app(self._simulator, loopback_only=False)
        assert self._shared is not None
        self._shared.state.simulator = self._simulator
        await self._shared(scope, receive, send)


class World:
    """A server and a client of it, on a loop of their own."""

    def __init__(
        self,
        *turns: Json | httpx.Response,
        dialect: ServerDialect = DOCUMENT,
        variant: type[Simulator] = Simulator,
        limits: Mapping[str, Any] | None = None,
        dispatch: bool = True,
        **config: Any,
    ) -> None:
        self.outside = Outside()
        self.outside.plays(*turns)
        known = {"upstream": UPSTREAM, "dispatch_url": DISPATCH if dispatch else None, "dialect": dialect}
        limit = replace(Limits(), **(limits or {}))
        transport = httpx.MockTransport(self.outside)
        self.simulator = variant(Config(**{**known, "limits": limit, "transport": transport, **config}))
        self.app = Application(self.simulator)
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://server.test")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this on the world's loop."""
        return self._runner.run(work)

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request."""
        return self.run(self._client.request(method, path, **more))

    def close(self) -> None:
        """Leave."""
        self.run(self._client.aclose())
        self.run(self.simulator.close())
        self._runner.close()

    def chat(self, *messages: Json, headers: Mapping[str, str] | None = None, **more: Any) -> httpx.Response:
        """A Chat Completions request that brings the tool `weather`."""
        body = {"model": "m", "messages": list(messages) or [QUESTION], "tools": [WEATHER], **more}
        return self.request("POST", "/v1/chat/completions", json=body, headers=headers)

    def stream(self, *messages: Json, **more: Any) -> list[tuple[str | None, Any]]:
        """The events of the same as a stream."""
        return events(self.chat(*messages, stream=True, **more).content)


def events(content: bytes) -> list[tuple[str | None, Any]]:
    """Names and data of an event stream; data that is not JSON is text."""
    return [event(block) for block in content.decode().split("\n\n") if block and not block.startswith(":")]


def event(block: str) -> tuple[str | None, Any]:
    """Name and data of one event."""
    lines = dict(line.split(": ", 1) for line in block.split("\n"))
    return lines.get("event"), lines["data"] if lines["data"] == "[DONE]" else json.loads(lines["data"])


def names(stream: list[tuple[str | None, Any]]) -> list[str]:
    """The named events of a stream, progress with its phase; and `[DONE]`."""
    told = []
    for name, data in stream:
        if data == "[DONE]":
            told.append(data)
        elif name is not None:
            told.append(data.get("phase", name))
    return told


def text_of(stream: list[tuple[str | None, Any]]) -> str:
    """The text of a Chat Completions stream."""
    chunks = [data for name, data in stream if name is None and data != "[DONE]" and "choices" in data]
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)


def entries(response: httpx.Response) -> list[tuple[int, str, str]]:
    """Round, name and result of each executed call."""
    return [(one["round"], one["name"], one["result_content"]) for one in response.json()["agentic_tool_calls"]]
