"""Registered callbacks: functions of this process that the model may call."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any

from looptck_reference.server.errors import ToolFailed
from looptck_reference.server.values import Called, Produced, Result
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Json

__all__ = ["Callback", "Callbacks", "Made"]


@dataclass(frozen=True, slots=True)
class Made:
    """The return value of a callback that has made files."""

    value: object
    files: tuple[Produced, ...] = ()


@dataclass(frozen=True, slots=True)
class Callback:
    """A tool; `handler` gets the arguments by keyword and may be a coroutine function. `parameters` is its schema."""

    name: str
    handler: Callable[..., Any]
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    @property
    def schema(self) -> Json:
        """The schema for the model, in the form of Chat Completions."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


class Callbacks:
    """The callbacks of a server, by name."""

    def __init__(self, callbacks: tuple[Callback, ...], timeout: float) -> None:
        self._callbacks = {callback.name: callback for callback in callbacks}
        self._timeout = timeout

    @property
    def schemas(self) -> Mapping[str, Json]:
        """The schemas for the model."""
        return {name: callback.schema for name, callback in self._callbacks.items()}

    async def run(self, called: Called) -> Result:
        """Call the function with the arguments, which are an object; a plain function runs in a thread.

        Raises:
            ToolFailed: the time is over. A thread then goes on, but blocks nothing.
            Exception: any error of the function.
        """
        arguments = called.arguments
        assert isinstance(arguments, dict)
        handler = self._callbacks[called.call.name].handler
        waits = inspect.iscoroutinefunction(handler)
        running = handler(**arguments) if waits else _in_thread(partial(handler, **arguments))
        try:
            value = await asyncio.wait_for(running, self._timeout)
        except TimeoutError:
            raise ToolFailed(f"timed out after {self._timeout:g} s") from None
        made = value if isinstance(value, Made) else Made(value)
        return Result(json_text(made.value), produced=made.files)


def _in_thread(work: Callable[[], object]) -> asyncio.Future[object]:
    """The return value of a function, run in a thread that neither other calls nor the server's end wait for."""
    end: Future[object] = Future()

    def run() -> None:
        if not end.set_running_or_notify_cancel():
            return
        try:
            end.set_result(work())
        except BaseException as error:  # noqa: BLE001  the loop handles any error
            end.set_exception(error)

    Thread(target=copy_context().run, args=(run,), name="looptck callback", daemon=True).start()
    return asyncio.wrap_future(end)
