"""The registry of handlers: first those of a tool's name, then those of its kind.

There are two layers, as in the Prompty runtime specification (§9.2 step 5d): a name's handler is called with the
arguments, a kind's handler with the tool, the arguments, the agent and its inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.tools import Handler, Tool
    from looptck_reference.vocabulary.values import Json

__all__ = ["REGISTRY", "KindHandler", "Registry"]

KindHandler = Callable[["Tool", "Json", "Agent", Mapping[str, Any]], Any]


class Registry:
    """Handlers by name and by kind.

    Thread-safe: a registration replaces the whole mapping, so that readers see the old or the new one, and a run keeps
    the mapping with which it began.
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
        """From now on this handler runs the tools of this kind that have no handler of their own."""
        with self._writing:
            self._kinds = {**self._kinds, kind: handler}

    def get_tool(self, name: str) -> Handler | None:
        """The handler of this name."""
        return self._names.get(name)

    def get_tool_handler(self, kind: str) -> KindHandler | None:
        """The handler of this kind."""
        return self._kinds.get(kind)

    def clear(self) -> None:
        """Remove all handlers."""
        with self._writing:
            self._names, self._kinds = {}, {}

    def for_run(
        self, names: Mapping[str, Handler] | None = None, kinds: Mapping[str, KindHandler] | None = None
    ) -> Registry:
        """The handlers of one run: given names come before registered names, and kinds come last."""
        return Registry({**self._names, **(names or {})}, {**(kinds or {}), **self._kinds})


REGISTRY = Registry()
"""The default handlers of all runs."""
