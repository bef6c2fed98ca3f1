"""The line to an implementation that is a server."""

from __future__ import annotations

import threading
from pathlib import Path

from looptck.drivers.faults import DriverFault
from looptck.drivers.protocol import Started
from looptck.drivers.servers.described import Described, running
from looptck.drivers.servers.in_python import InPython
from looptck.drivers.servers.source import Source


class Servers:
    """Its set-ups, each opened when a check first needs it."""

    def __init__(self, source: Source) -> None:
        self.port = source.port
        """The port on which the kit has to listen; 0: any."""
        self._source = source
        self._upstream = self._dispatch = ""
        self._urls: dict[str, str | DriverFault] = {}
        self._opening = threading.Lock()

    def between(self, upstream: str, dispatch: str) -> None:
        """The base URL of the model and the URL for tool calls, which all set-ups are told."""
        self._upstream, self._dispatch = upstream, dispatch

    def load(self, model: Path) -> None:
        """Let the model be this file from now on. What could not be opened before is not tried again.

        Raises:
            DriverFault: it cannot be.
        """
        with self._opening:
            self._urls = {setup: found for setup, found in self._urls.items() if isinstance(found, DriverFault)}
            self._source.load(model)

    def start(self) -> Started:
        """What it declares; nothing runs yet."""
        return self._source.declared().started

    def url(self, setup: str) -> str:
        """Where a set-up answers, without a slash at the end.

        Raises:
            DriverFault: it cannot be opened; the same one every time.
        """
        with self._opening:
            if setup not in self._urls:
                try:
                    self._urls[setup] = self._source.open(setup, self._upstream, self._dispatch).rstrip("/")
                except DriverFault as fault:
                    self._urls[setup] = fault
        found = self._urls[setup]
        if isinstance(found, DriverFault):
            raise found
        return found

    def process(self, setup: str) -> int | None:
        """The id of the process of a set-up; None if that is not known."""
        self.url(setup)
        return self._source.process(setup)

    def stop(self) -> list[DriverFault]:
        try:
            self._source.close()
        except DriverFault as fault:
            return [fault]
        return []


def servers(word: str) -> Servers:
    """The server that ``python:MODULE:NAME``, ``python:FILE.py:NAME``, a URL, or a description's file stands for.

    Raises:
        ValueError: it is none of them.
        BadFile: the file is no description.
    """
    kind, _, rest = word.partition(":")
    if kind == "python" and ":" in rest:
        return Servers(InPython(rest))
    if kind in {"http", "https"} and rest.startswith("//"):
        return Servers(running(word))
    if word.strip():
        return Servers(Described.read(Path(word)))
    raise ValueError("server: needs a URL, the file of a description, or python:MODULE:NAME")
