"""Turns a Python driver class into a driver process.

Stands alone on the standard library, so that it can be run as a file by the Python of an environment in which
looptck is not installed:

    ENVIRONMENT/bin/python serve.py path/to/driver.py:Driver

It speaks the protocol of ``fixtures/protocol`` on standard input and output. Each sync run has a thread of its own
and all async runs share one event loop, so runs overlap and answers leave in the order in which they are ready.
What the implementation prints goes to standard error: standard output belongs to the protocol.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

VERSION = 1
"""Of the protocol."""

Message = dict[str, Any]


def load(reference: str) -> Any:
    """The object that ``module:name`` or ``path/to/file.py:name`` stands for.

    Raises:
        ValueError: no colon in it, or the file is not a Python file.
        ImportError, AttributeError: the module or the name is not there.
    """
    place, colon, name = reference.rpartition(":")
    if not colon:
        raise ValueError(f"{reference!r} names no object: write MODULE:NAME or FILE.py:NAME")
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    path = Path(place).resolve()
    if not path.is_file():
        raise ImportError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{place!r} is not a Python file")
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return getattr(module, name)


class Writer:
    """Writes whole lines, one at a time, from any thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        line = json.dumps(message) + "\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()


class Host:
    """Carries messages between the kit and one driver object."""

    def __init__(self, driver: Any, writer: Writer) -> None:
        self._driver = driver
        self._send = writer.send
        self._loop: asyncio.AbstractEventLoop | None = None

    def handle(self, message: Message) -> None:
        if message["type"] == "start":
            self._send({"type": "started", "protocol": VERSION, **self._driver.start()})
        elif message["type"] == "run":
            self._run(message["id"], message["case"])
        elif message["type"] == "cancel":
            self._driver.cancel(message["id"])
        elif message["type"] == "stop" and hasattr(self._driver, "stop"):
            self._driver.stop()

    def _run(self, id: str, case: Message) -> None:
        if case["mode"] == "async":
            asyncio.run_coroutine_threadsafe(self._run_async(id, case), self._event_loop())
        else:
            threading.Thread(target=self._run_sync, args=(id, case), daemon=True).start()

    def _run_sync(self, id: str, case: Message) -> None:
        try:
            outcome = self._driver.run(case, lambda text: self._chunk(id, text))
            self._send({"type": "finished", "id": id, "outcome": outcome})
        except BaseException:
            _die()

    async def _run_async(self, id: str, case: Message) -> None:
        try:
            outcome = await self._driver.run_async(case, lambda text: self._chunk(id, text))
            self._send({"type": "finished", "id": id, "outcome": outcome})
        except BaseException:
            _die()

    def _chunk(self, id: str, text: str) -> None:
        self._send({"type": "chunk", "id": id, "text": text})

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return self._loop


def _die() -> None:
    """An error that the driver let through is a crash, and looks like one."""
    import traceback

    traceback.print_exc(file=sys.stderr)
    sys.stderr.flush()
    os._exit(70)


def main(arguments: list[str]) -> int:
    """Serve the named driver until ``stop``; exit status 2 where none is named."""
    if len(arguments) != 1:
        print("usage: serve.py MODULE:NAME | FILE.py:NAME", file=sys.stderr)
        return 2
    writer = Writer(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    host = Host(load(arguments[0])(), writer)
    for line in sys.stdin:
        message = json.loads(line)
        host.handle(message)
        if message["type"] == "stop":
            break
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.path[0] = str(Path.cwd())  # not the folder of this file: the names in it are not meant for a driver's imports
    sys.exit(main(sys.argv[1:]))
