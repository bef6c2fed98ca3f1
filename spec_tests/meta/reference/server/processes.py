"""A server in a process of its own, and the model that it asks over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
"""The folder from which `meta` is imported."""


class Model(ThreadingHTTPServer):
    """A model on a port that says these turns; a turn that is None is held until the server is told to go on."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.reached, self.go_on = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), ModelHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class ModelHandler(BaseHTTPRequestHandler):
    """One request."""

    server: Model

    def do_POST(self) -> None:
        """Say the next turn."""
        self.rfile.read(int(self.headers["content-length"]))
        said = self.server.turns.pop(0)
        if said is None:
            self.server.reached.set()
            self.server.go_on.wait(20)
            self.close_connection = True
            return
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def served(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process and its URL."""
    command = [sys.executable, "-m", "looptck_reference.server", "serve", *options]
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().split()[-1]
        finally:
            process.kill()


def last_words(process: subprocess.Popen[str]) -> str:
    """The standard error of a process that ends; of one that does not, where it hangs."""
    try:
        return process.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        return f"it has not ended: {process.communicate()[1]}"


@contextmanager
def model(*turns: Any) -> Iterator[Model]:
    """A model that is gone at the end."""
    there = Model(*turns)
    try:
        yield there
    finally:
        there.go_on.set()
        there.shutdown()
        there.server_close()
