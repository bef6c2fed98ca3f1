"""The connection to an implementation that is a server."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from looptck.drivers.faults import DriverFault
from looptck.drivers.protocol import Started
from looptck.drivers.servers.described import Described, running
from looptck.drivers.servers.in_python import InPython
from looptck.drivers.servers.process import Log
from looptck.drivers.servers.source import Source


class Servers:
    """The set-ups of a server, each opened when a check first needs it."""

    def __init__(self, source: Source) -> None:
        self.port = source.port
        """The port on which looptck must listen; 0: any."""
        self._source = source
        self._upstream = self._dispatch = ""
        self._urls: dict[str, str | DriverFault] = {}
        self._opening = threading.Lock()

    def between(self, upstream: str, dispatch: str) -> None:
        """Set the base URL of the model and the URL for tool calls, which are passed to all set-ups."""
        self._upstream, self._dispatch = upstream, dispatch

    def load(self, model: Path) -> None:
        """Use this file as the model from now on. Set-ups that could not be opened are not tried again.

        Raises:
            DriverFault: the file cannot be loaded.
        """
        with self._opening:
            self._urls = {setup: found for setup, found in self._urls.items() if isinstance(found, DriverFault)}
            self._source.load(model)

    def start(self) -> Started:
        """The declaration of the server; no set-up is opened yet."""
        return self._source.declared().started

    def url(self, setup: str) -> str:
        """The URL of a set-up, without a slash at the end.

        Raises:
            DriverFault: the set-up cannot be opened; every call raises the same fault.
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

    def log(self, setup: str) -> Log | None:
        """What the process of a set-up writes; None if that is not known."""
        self.url(setup)
        return self._source.log(setup)

    def stop(self) -> list[DriverFault]:
        try:
            self._source.close()
        except DriverFault as fault:
            return [fault]
        return []


def servers(word: str, starting: float | None = None) -> Servers:
    """The server named by ``python:MODULE:NAME``, ``python:FILE.py:NAME``, a URL, or the file of a description.

    ``starting``: seconds that each method of an object may take; None: as many as are usual.

    Raises:
        ValueError: the name has none of these forms.
        BadFile: the file is not a description.
    """
    kind, _, rest = word.partition(":")
    if kind == "python" and ":" in rest:
        return Servers(InPython(rest, starting))
    if kind in {"http", "https"} and rest.startswith("//"):
        return Servers(running(word))
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", word) and not Path(word).exists():
        raise ValueError(f"{word!r} is not the URL of a server: write server:http://{word}")
    if word.strip():
        return Servers(Described.read(Path(word)))
    raise ValueError("server: needs a URL, the file of a description, or python:MODULE:NAME")
