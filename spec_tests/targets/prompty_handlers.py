"""Prompty's registries of handlers are the process's; here they hold what one run registers, for as long as it runs.

What is registered asks which run it is called in, by a context variable: runs overlap, and each has its own toolbox.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from prompty.core.tool_dispatch import (
    ToolHandlerError,
    clear_tools,
    get_tool_handler,
    register_tool,
    register_tool_handler,
)

from looptck.driver import run_tool

Json = dict[str, Any]

_CASE: ContextVar[Json] = ContextVar("the case of the run that is under way here")
_LOCK = threading.Lock()
_kinds: set[str] = set()
_runs_with_names = 0


@contextmanager
def registered(case: Json) -> Iterator[None]:
    """Register the handlers of a case by kind, and by name those of the tools that its child prompts call."""
    token = _CASE.set(case)
    names = case.get("handlers", {})
    with _LOCK:
        for kind in case.get("kinds", {}).keys() - _kinds:
            register_tool_handler(kind, _OfAKind(kind, _handler_of(kind)))
            _kinds.add(kind)
        _count_names(bool(names))
        for name in names:
            register_tool(name, _async_named(name) if case["mode"] == "async" else _named(name))
    try:
        yield
    finally:
        with _LOCK:
            _count_names(-bool(names))
        _CASE.reset(token)


def _count_names(change: int) -> None:
    """Prompty cannot forget one name, only all; so they go when the last run that registered any is over."""
    global _runs_with_names  # noqa: PLW0603 - as Prompty's registry, of which there is one
    _runs_with_names += change
    if change < 0 and not _runs_with_names:
        clear_tools()


def _handler_of(kind: str) -> Any:
    """The handler that Prompty uses for a kind: its own, or that of unknown kinds."""
    try:
        return get_tool_handler(kind)
    except ToolHandlerError:
        return get_tool_handler("*")


class _OfAKind:
    """The handler of a kind in those runs that registered one; in others, the one that was there before.

    Prompty cannot forget the handler of one kind, so it stays.
    """

    def __init__(self, kind: str, before: Any) -> None:
        self._kind = kind
        self._before = before

    def execute_tool(self, tool: Any, args: Json, agent: Any, parent_inputs: Json) -> str:
        url = _CASE.get().get("kinds", {}).get(self._kind)
        if url is None:
            told: str = self._before.execute_tool(tool, args, agent, parent_inputs)
            return told
        return _of_a_kind(url, tool, args, agent, parent_inputs)

    async def execute_tool_async(self, tool: Any, args: Json, agent: Any, parent_inputs: Json) -> str:
        url = _CASE.get().get("kinds", {}).get(self._kind)
        if url is None:
            told: str = await self._before.execute_tool_async(tool, args, agent, parent_inputs)
            return told
        return await asyncio.to_thread(_of_a_kind, url, tool, args, agent, parent_inputs)


def _of_a_kind(url: str, tool: Any, args: Json, agent: Any, parent_inputs: Json) -> str:
    """Prompty wants text of these handlers, and turns only what functions return into text itself."""
    told = {"tool": tool.name, "arguments": args, "agent": agent.name, "inputs": parent_inputs}
    return str(run_tool(url, told))


def _named(name: str) -> Callable[..., Any]:
    def handle(**arguments: Any) -> Any:
        return run_tool(_CASE.get()["handlers"][name], {"arguments": arguments})

    return handle


def _async_named(name: str) -> Callable[..., Any]:
    async def handle(**arguments: Any) -> Any:
        return await asyncio.to_thread(_named(name), **arguments)

    return handle
