"""The simulator on loopback ports of this process, in the set-ups of a test suite."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from typing import Any, ClassVar

import uvicorn

import looptck_reference
from looptck_reference.server.dialects import DOCUMENT
from looptck_reference.server.http.app import create_app
from looptck_reference.server.limits import Limits
from looptck_reference.server.serving import Config, Simulator
from looptck_reference.server.tools import FAKE_INDEX, Callback, SearchIndex
from looptck_reference.server.values import Permission
from looptck_reference.vocabulary.values import Json

__all__ = ["Bench"]

ECHO = Callback(
    name="looptck_echo",
    description="Returns its text.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    handler=lambda text: f"echo: {text}",
)
CAP = 2
HASTE = 1.0
"""Seconds after which the set-up `timeout` abandons a dispatch."""


class Bench:
    """Servers that run until `close`; a variant has its own `simulator`."""

    simulator: ClassVar[type[Simulator]] = Simulator
    setups = ("usual", "bare", "cap", "denying", "timeout")

    def __init__(self) -> None:
        self._running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(self) -> Json:
        """The description of the simulator."""
        return {
            "name": "looptck-reference-server",
            "version": looptck_reference.__version__,
            "language": "python",
            "wires": ["openai-chat", "openai-responses", "anthropic-messages"],
            "capabilities": [
                "dispatch", "upstream", "rounds", "fallback", "sessions", "approvals", "callbacks", "search", "code",
                "files", "process",
            ],
            "setups": list(self.setups),
        }  # fmt: skip

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        """The URL of a server that answers from now on."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        app = self.app(self.simulator(self.config(setup, upstream, dispatch)))
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True, name=f"bench {setup}")
        thread.start()
        self._running.append((server, thread))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    def close(self) -> None:
        """Stop all servers."""
        for server, _ in self._running:
            server.should_exit = True
        for _, thread in self._running:
            thread.join()
        self._running.clear()

    def app(self, simulator: Simulator) -> Any:
        """The ASGI application that serves it."""
        return create_app(simulator)

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        """The configuration of a set-up."""
        bare = Config(upstream=upstream, dialect=DOCUMENT)
        if setup == "bare":
            return bare
        usual = replace(bare, dispatch_url=dispatch, search=SearchIndex(FAKE_INDEX), code=True, callbacks=(ECHO,))
        changes: dict[str, dict[str, Any]] = {
            "cap": {"max_tool_rounds": CAP},
            "denying": {"permission": Permission.DENY},
            "timeout": {"limits": Limits(dispatch_timeout=HASTE)},
        }
        return replace(usual, **changes.get(setup, {}))
