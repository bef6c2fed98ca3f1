"""Servers of an object in this process: ``start()``, ``open(setup, upstream, dispatch)`` and ``close()``.

One that declares ``model`` has ``load(path)`` too, after which each set-up is opened anew.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from looptck.driver import load
from looptck.drivers.faults import DriverFault, Kind, last_line
from looptck.drivers.limits import within
from looptck.drivers.servers.declared import Declared, complaint

STARTING = 60.0
"""Seconds that each of an object's methods may take."""


class InPython:
    """``module:name`` or ``file.py:name``, a class without constructor arguments."""

    port = 0

    def __init__(self, reference: str, starting: float | None = None) -> None:
        self._reference = reference
        self._starting = STARTING if starting is None else starting
        self._made: Any = None

    def declared(self) -> Declared:
        try:
            message = within(self._starting, "start() did not return", self._started)
        except (DriverFault, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise DriverFault("cannot-start", last_line(error), stderr=traceback.format_exc()) from error
        if wrong := complaint(message):
            raise DriverFault("cannot-start", f"start() returned an invalid declaration: {wrong}")
        return Declared.from_message(message)

    def _started(self) -> dict[str, Any]:
        """Import the server's class, make one, and ask what it declares."""
        self._made = load(self._reference)()
        message = dict(self._made.start())
        message["setups"] = dict.fromkeys(message.get("setups", ()))
        return message

    def load(self, model: Path) -> None:
        self._asked("load()", lambda made: made.load(str(model)))

    def open(self, setup: str, upstream: str, dispatch: str) -> str:
        url = self._asked(f"open({setup!r})", lambda made: made.open(setup, upstream, dispatch))
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise DriverFault("cannot-start", f"open({setup!r}) returned {url!r}, which is not a URL")
        return url

    def process(self, setup: str) -> int | None:
        """The id of looptck's own process."""
        return os.getpid()

    def log(self, setup: str) -> None:
        """None: what this process writes is looptck's own too."""

    def close(self) -> None:
        if self._made is not None:
            self._asked("close()", lambda made: made.close())

    def _asked(self, what: str, asks: Callable[[Any], Any]) -> Any:
        try:
            return within(self._starting, f"{what} did not return", lambda: asks(self._made))
        except (DriverFault, KeyboardInterrupt):
            raise
        except BaseException as error:
            kind: Kind = "crashed" if what == "close()" else "cannot-start"
            raise DriverFault(kind, f"{what}: {last_line(error)}", stderr=traceback.format_exc()) from error
