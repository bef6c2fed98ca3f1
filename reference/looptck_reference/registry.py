"""Who runs a tool: first whoever is registered under its name, then whoever is registered for its kind.

Two layers, as the Prompty runtime specification has them (§9.2 step 5d): a handler of a name is called with the
arguments, one of a kind with the tool, the arguments, the agent and its inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.tools import Handler, Tool
    from looptck_reference.values import Json

__all__ = ["REGISTRY", "KindHandler", "Registry"]

KindHandler = Callable[["Tool", "Json", "Agent", Mapping[str, Any]], Any]


class Registry:
    """Handlers by name and by kind.

    Safe under threads: a registration replaces the whole mapping, so that whoever reads sees it before or after, and
    a run that has begun keeps what it began with.
    """

    def __init__(
        self, names: Mapping[str, Handler] | None = None, kinds: Mapping[str, KindHandler] | None = None
    ) -> None:
        self._names = dict(names or {})
        self._kinds = dict(kinds or {})
        self._writing = threading.Lock()

    def register_tool(self, name: str, handler: Handler) -> None:
        """From now on this handler runs the tools of this name."""
        with self._writing:
            self._names = {**self._names, name: handler}

    def register_tool_handler(self, kind: str, handler: KindHandler) -> None:
        """From now on this handler runs the tools of this kind that have none of their own."""
        with self._writing:
            self._kinds = {**self._kinds, kind: handler}

    def get_tool(self, name: str) -> Handler | None:
        """The handler of this name."""
        return self._names.get(name)

    def get_tool_handler(self, kind: str) -> KindHandler | None:
        """The handler of this kind."""
        return self._kinds.get(kind)

    def clear(self) -> None:
        """Forget all of them."""
        with self._writing:
            self._names, self._kinds = {}, {}

    def for_run(
        self, names: Mapping[str, Handler] | None = None, kinds: Mapping[str, KindHandler] | None = None
    ) -> Registry:
        """What holds in one run: the names given for it come before those registered, the kinds behind them."""
        return Registry({**self._names, **(names or {})}, {**(kinds or {}), **self._kinds})


REGISTRY = Registry()
"""The handlers that any run finds unless it is told to look elsewhere."""
