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
from looptck.drivers.faults import DriverFault, Kind
from looptck.drivers.servers.declared import Declared, complaint


class InPython:
    """``module:name`` or ``file.py:name``, a class without constructor arguments."""

    port = 0

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self._made: Any = None

    def declared(self) -> Declared:
        try:
            self._made = load(self._reference)()
            message = dict(self._made.start())
            message["setups"] = dict.fromkeys(message.get("setups", ()))
        except (Exception, SystemExit) as error:
            raise DriverFault("cannot-start", _last_line(error), stderr=traceback.format_exc()) from error
        if wrong := complaint(message):
            raise DriverFault("cannot-start", f"start() returned an invalid declaration: {wrong}")
        return Declared.from_message(message)

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

    def close(self) -> None:
        if self._made is not None:
            self._asked("close()", lambda made: made.close())

    def _asked(self, what: str, asks: Callable[[Any], Any]) -> Any:
        try:
            return asks(self._made)
        except (Exception, SystemExit) as error:
            kind: Kind = "crashed" if what == "close()" else "cannot-start"
            raise DriverFault(kind, f"{what}: {_last_line(error)}", stderr=traceback.format_exc()) from error


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()
