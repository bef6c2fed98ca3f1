"""Servers that a file describes: a command for each set-up, or the URL at which it runs already."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import BadFile, load, reason
from looptck.drivers.faults import DriverFault
from looptck.drivers.servers.declared import MODEL, USUAL, Declared
from looptck.drivers.servers.process import Log, Process

PORT = 8799
"""The default port of looptck's model and dispatch endpoint for a server that is already running."""
PORTS = {"http": 80, "https": 443}
"""Those of URLs that name none."""


@dataclass
class Described:
    """One description, and the processes started from it."""

    message: dict[str, Any]
    folder: Path = field(default_factory=Path.cwd)
    """The path of the description."""
    _processes: dict[str, Process] = field(default_factory=dict)
    _model: Path | None = None

    @classmethod
    def read(cls, path: Path) -> Described:
        """From a file.

        Raises:
            BadFile: it breaks the schema, or has both a command and the URL of a running server.
        """
        message = load(path, fixture("server.schema.json"), given=True)
        command, port = message.get("command"), message.get("port")
        for name, setup in message["setups"].items():
            if setup is None or (isinstance(setup, list) and not command):
                raise BadFile(path, f"/setups/{name}: needs the arguments of the command at the top, or a URL")
            if isinstance(setup, str) and not port:
                raise BadFile(
                    path, f"/setups/{name}: a server that is already running must know looptck's port: add port"
                )
            if isinstance(setup, str) and MODEL in message["capabilities"]:
                raise BadFile(path, f"/setups/{name}: a server that is already running cannot load another model")
        return cls(message, path.resolve().parent)

    @property
    def port(self) -> int:
        return int(self.message.get("port", 0))

    def declared(self) -> Declared:
        return Declared.from_message(self.message)

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        found = self.message["setups"][setup]
        if isinstance(found, str):
            return self._reached(setup, found)
        port = _free_port()
        places = {
            "port": str(port),
            "upstream": upstream,
            "dispatch": dispatch,
            "model": str(self._model),
            "folder": str(self.folder),
        }
        words = [_filled(word, places) for word in (*self.message["command"], *found)]
        process = self._processes[setup] = Process(
            words, port, _mend([*self.message["command"], *found], words, places)
        )
        process.wait()
        return f"http://127.0.0.1:{port}"

    def process(self, setup: str) -> int | None:
        return self._processes[setup].id if setup in self._processes else None

    def log(self, setup: str) -> Log | None:
        return self._processes[setup].log if setup in self._processes else None

    def load(self, model: Path) -> None:
        """Stop all processes: a process has one model for its whole life."""
        self._model = model
        self.close()

    def close(self) -> None:
        for process in self._processes.values():
            process.end()
        self._processes.clear()

    def _reached(self, setup: str, url: str) -> str:
        place = urlsplit(url)
        try:
            port = place.port or PORTS[place.scheme]
            socket.create_connection((place.hostname or "", port), timeout=5.0).close()
        except (OSError, ValueError) as error:
            detail = f"nothing answers at {url}, the set-up {setup}: {reason(error)}"
            raise DriverFault("cannot-start", detail) from error
        return url


def running(url: str) -> Described:
    """A server that is already running, of which only the URL is known."""
    return Described(
        {
            "name": url,
            "version": "unknown",
            "wires": ["openai-chat"],
            "capabilities": ["dispatch", "upstream"],
            "port": PORT,
            "setups": {USUAL: url},
        }
    )


def _filled(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace("{" + name + "}", value)
    return word


def _mend(words: Sequence[str], filled: Sequence[str], places: Collection[str]) -> str:
    """What may mend a command that does not come up."""
    if unknown := next((word for word in filled if re.fullmatch(r"\{[a-z_]+\}", word)), None):
        return f"{unknown} is none of {', '.join('{' + name + '}' for name in places)}"
    if not any("{port}" in word for word in words):
        return "no word of the command has {port}, the port on which it has to listen"
    return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
