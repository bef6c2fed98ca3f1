"""mistral.rs as a server: HTTP before the engine of the PyPI package, which has none.

A request becomes one of the SDK's, member by member, and what the SDK gives back becomes JSON, member by member: a
response, the chunks of a stream, or its error. Sessions are the engine's own, in its own encoding. Nothing is added; in
particular the HTTP layer of mistral.rs, which tells of rounds and writes the records of calls, is not imitated.
"""

from __future__ import annotations

import argparse
import json
import os
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

os.environ.setdefault("RUST_LOG", "off")

from mistralrs import AgentPermission, ChatCompletionRequest, Runner, ToolChoice, Which

MODELS = "/v1/models"
SESSIONS = "/v1/sessions/"
MOST = 4096
"""Tokens of a turn, where the request does not say."""
TAKEN: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "messages": ("messages", lambda value: value),
    "max_tokens": ("max_tokens", lambda value: value),
    "stream": ("stream", lambda value: value),
    "tools": ("tool_schemas", lambda value: [json.dumps(tool) for tool in value]),
    "tool_choice": ("tool_choice", lambda value: {"auto": ToolChoice.Auto, "none": ToolChoice.NoTools}[value]),
    "max_tool_rounds": ("max_tool_rounds", lambda value: value),
    "agent_permission": ("agent_permission", lambda value: getattr(AgentPermission, value.capitalize())),
    "session_id": ("session_id", lambda value: value),
}
"""The members of a request that the SDK has, by their name in Chat Completions."""
RENAMED = {"tp": "type"}
EMPTY = "Received none"
"""What the SDK says where the engine has closed a stream and told nothing: there is nothing to give back."""
ABSENT = {"agentic_tool_calls", "files", "session_id", "adapter_generation"}
"""Members that are left out where they are None."""


class Engine:
    """One model, and where its calls are posted."""

    def __init__(self, model: Path, dispatch: str | None, *, callbacks: bool) -> None:
        tools = {"looptck_echo": lambda _name, arguments: f"echo: {arguments['text']}"} if callbacks else None
        which = Which.GGUF(quantized_model_id=str(model.parent), quantized_filename=model.name)
        self.runner = Runner(which=which, tool_callbacks=tools)
        self._dispatch = {"tool_dispatch_url": dispatch} if dispatch else {}
        self._free = threading.Lock()

    def ask(self, body: Mapping[str, Any]) -> Any:
        """The SDK's response, or an iterator of its chunks.

        A runner takes one call at a time (`RuntimeError: Already borrowed`), so plain requests wait for each other.
        Streams run at the same time: their call is over when they begin.
        """
        taken = {name: value for name, value in body.items() if name in TAKEN and value is not None}
        told = {TAKEN[name][0]: TAKEN[name][1](value) for name, value in taken.items()}
        request = {"model": "default", "max_tokens": MOST, "temperature": 0.0, **self._dispatch, **told}
        with self._free:
            return self.runner.send_chat_completion_request(ChatCompletionRequest(**request))


class Server(socketserver.ThreadingTCPServer):
    """Answers each request in a thread of its own."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, engine: Engine) -> None:
        self.engine = engine
        super().__init__(("127.0.0.1", port), Handler)


class Handler(BaseHTTPRequestHandler):
    """Requests and replies."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """A session, the models, or whether the model is there."""
        runner = self.server.engine.runner
        if self.path.startswith(SESSIONS):
            found = runner.export_session(self.path.removeprefix(SESSIONS))
            self._reply(200, found) if found else self._refuse(404, "there is no such session")
        elif self.path == MODELS:
            models = [{"id": name, "object": "model"} for name in runner.list_models()]
            self._reply(200, json.dumps({"object": "list", "data": models}))
        elif self.path == "/health":
            self._reply(200, json.dumps({"status": "ok", "models": runner.list_models()}))
        else:
            self._refuse(404, f"there is no {self.path}")

    def do_PUT(self) -> None:
        """Take a session."""
        try:
            self.server.engine.runner.import_session(self.path.removeprefix(SESSIONS), self._read().decode())
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises is its answer
            self._refuse(400, error)
        else:
            self._reply(200, "{}")

    def do_DELETE(self) -> None:
        """Forget a session."""
        found = self.server.engine.runner.delete_session(self.path.removeprefix(SESSIONS))
        self._reply(200, json.dumps({"deleted": found}))

    def do_POST(self) -> None:
        """Ask the engine."""
        if self.path != "/v1/chat/completions":
            self._refuse(404, f"there is no {self.path}")
            return
        try:
            body = json.loads(self._read())
        except (ValueError, RecursionError) as error:
            self._refuse(400, error)
            return
        try:
            answer = self.server.engine.ask(body)
        except Exception as error:  # noqa: BLE001 - as above
            self._refuse(422, f"{type(error).__name__}: {error}")
            return
        if body.get("stream"):
            self._stream(answer)
        else:
            self._reply(200, json.dumps(told(answer)))

    def _stream(self, chunks: Iterator[Any]) -> None:
        """Chunks as they come. The end of the iteration is the end of the stream; an error is told and ends nothing."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for chunk in chunks:
                self._event(json.dumps(told(chunk)))
            self._event("[DONE]")
        except OSError:
            return  # the client has gone, and with this function its stream
        except Exception as error:  # noqa: BLE001 - as above
            if EMPTY not in str(error):
                self._event(json.dumps({"error": {"message": f"{type(error).__name__}: {error}"}}))

    def _event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _read(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _refuse(self, status: int, why: object) -> None:
        self._reply(status, json.dumps({"message": str(why)}))

    def _reply(self, status: int, body: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def told(value: Any) -> Any:
    """A value of the SDK as JSON."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list):
        return [told(one) for one in value]
    names = [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name))]
    if not names or "Function" in names:  # a word of an enumeration
        return str(value).rpartition(".")[2].lower()
    found = {RENAMED.get(name, name): told(getattr(value, name)) for name in names}
    return {name: one for name, one in found.items() if one is not None or name not in ABSENT}


def main() -> None:
    """Serve until the process is ended."""
    words = argparse.ArgumentParser()
    words.add_argument("--port", type=int, required=True)
    words.add_argument("--model", type=Path, required=True)
    words.add_argument("--dispatch")
    words.add_argument("--callbacks", action="store_true")
    chosen = words.parse_args()
    Server(chosen.port, Engine(chosen.model, chosen.dispatch, callbacks=chosen.callbacks)).serve_forever()


if __name__ == "__main__":
    main()
