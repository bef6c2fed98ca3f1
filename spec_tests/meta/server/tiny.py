"""Tiny servers for the kit's tests of its server side: objects in this process, each with a fault of its own."""

from __future__ import annotations

import json
import socketserver
import threading
import urllib.request
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar

JSON = "application/json"
EVENTS = "text/event-stream"


class Handler(BaseHTTPRequestHandler):
    """Runs one call of a turn at most, and answers with what its model says then."""

    protocol_version = "HTTP/1.1"
    server: Tiny

    def do_POST(self) -> None:
        """Ask, run the first call, ask again."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = {"model": asked["model"], "messages": asked["messages"], "tools": asked.get("tools", [])}
        reply = posted(self.server.upstream + "/chat/completions", body)
        message = reply["choices"][0]["message"]
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            result = posted(self.server.dispatch, {"name": call["function"]["name"], "arguments": arguments})
            told = {"role": "tool", "tool_call_id": call["id"], "content": result["content"]}
            body["messages"] += [{"role": "assistant", "content": None, "tool_calls": [call]}, told]
            reply = posted(self.server.upstream + "/chat/completions", body)
        self.reply(JSON, [json.dumps(reply).encode()])

    def reply(self, type: str, pieces: Iterable[bytes], length: int | None = None) -> None:
        """A reply in these pieces; a length that is more than theirs cuts it."""
        whole = [*pieces]
        self.send_response(200)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(sum(map(len, whole)) if length is None else length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in whole:
            self.wfile.write(piece)
            self.wfile.flush()

    def do_GET(self) -> None:
        """Say who asks."""
        self.reply(JSON, [json.dumps(dict(self.headers.items())).encode()])

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


class Tiny(socketserver.ThreadingTCPServer):
    """A server on a free port."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, handler: type[Handler], upstream: str, dispatch: str) -> None:
        self.upstream, self.dispatch = upstream, dispatch
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Bench:
    """What the kit is given: a well-behaved one."""

    handler: ClassVar[type[Handler]] = Handler
    capabilities: ClassVar[list[str]] = ["dispatch", "upstream"]

    def __init__(self) -> None:
        self.opened: list[Tiny] = []

    def start(self) -> dict[str, Any]:
        """What it is."""
        return {
            "name": "tiny",
            "version": "1",
            "wires": ["openai-chat"],
            "capabilities": self.capabilities,
            "setups": ["usual", "bare"],
        }

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        """One server for each set-up."""
        self.opened.append(Tiny(self.handler, upstream, dispatch))
        return self.opened[-1].url + "/"

    def close(self) -> None:
        """End them."""
        for one in self.opened:
            one.ended.set()
            one.shutdown()
            one.server_close()


class NeedsWords(Bench):
    """Cannot be made without arguments."""

    def __init__(self, words: str) -> None:
        super().__init__()


class DeclaresAList(Bench):
    """Declares no object."""

    def start(self) -> Any:
        """A list."""
        return ["tiny"]


class DeclaresNonsense(Bench):
    """Has a capability that there is not."""

    capabilities: ClassVar[list[str]] = ["telepathy"]


class DeclaresAnObject(Bench):
    """Declares what is no JSON."""

    def start(self) -> dict[str, Any]:
        """With an object in it."""
        return super().start() | {"dialect": {"cap": object()}}


class LacksTheUsual(Bench):
    """Has no usual set-up."""

    def start(self) -> dict[str, Any]:
        """Only bare."""
        return super().start() | {"setups": ["bare"]}


class LeavesAtStart(Bench):
    """Ends the process while it declares."""

    def start(self) -> dict[str, Any]:
        """Leave."""
        raise SystemExit(0)


class CannotOpen(Bench):
    """Raises where a set-up is opened."""

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        """Raise."""
        raise RuntimeError(f"no {setup} today")


class OpensNowhere(Bench):
    """Gives no URL."""

    def open(self, setup: str, upstream: str, dispatch: str) -> Any:
        """Nothing."""
        return None


class CannotClose(Bench):
    """Raises where it is to end."""

    def close(self) -> None:
        """Raise."""
        super().close()
        raise OSError("the port is lost")


class Loads(Bench):
    """Its model is a file; it tells which one it has."""

    capabilities: ClassVar[list[str]] = ["dispatch", "model"]

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def load(self, path: str) -> None:
        """Take a file."""
        self.loaded.append(path)


class Hanging(Handler):
    """Reads a request and answers when its server ends."""

    def do_POST(self) -> None:
        """Wait."""
        self.server.ended.wait()


class LoadsAndHangs(Loads):
    """As above, and answers nothing."""

    handler: ClassVar[type[Handler]] = Hanging


def posted(url: str, body: Any) -> Any:
    """What a URL answers."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": JSON})  # noqa: S310  the kit's
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as reply:
        return json.load(reply)
