"""Calls that are read wrongly from a stream of Chat Completions: `ChatStream.add_call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall
from looptck_reference.wires import ChatStream, ChatWire, Wire


@breaks(
    "mode-streamed-calls-are-accumulated",
    collateral={"mode-arguments-are-keywords": "nested arguments arrive in more than six pieces"},
    cells=CHAT_STREAM,
)
class SixPieces(ChatStream):
    """Ignores the pieces of a call after the sixth."""

    def add_call(self, delta: Json) -> None:
        if not self._calls or len(self._calls[-1].arguments) < 6 or delta.get("id"):
            super().add_call(delta)


@breaks("mode-calls-are-collected-before-any-runs", cells=CHAT_STREAM)
class RunsAtTheNext(Loop):
    """Runs a call as soon as the next call of its turn begins."""

    def __init__(self, agent: Any, *, wire: Wire, **options: Any) -> None:
        super().__init__(agent, wire=EagerChat(self) if isinstance(wire, ChatWire) else wire, **options)
        self.ran: dict[str, Handler] = {}

    def run_early(self, call: ToolCall) -> None:
        handler = super().handler_for(call)
        try:
            arguments = self.parse_arguments(call.arguments)
        except BadArguments:
            return
        if handler is not None:
            self.ran[call.id] = _ended(handler, arguments)

    def handler_for(self, call: ToolCall) -> Handler | None:
        return self.ran.pop(call.id, None) or super().handler_for(call)


class EagerChat(ChatWire):
    """The wire of `RunsAtTheNext`; it knows the loop, because only its stream sees incomplete turns."""

    def __init__(self, loop: RunsAtTheNext) -> None:
        self.loop = loop

    def stream(self) -> ChatStream:
        """A stream that can run calls of the loop."""
        return EagerStream(self.loop)


class EagerStream(ChatStream):
    """The stream of `RunsAtTheNext`."""

    def __init__(self, loop: RunsAtTheNext) -> None:
        super().__init__()
        self.loop = loop

    def add_call(self, delta: Json) -> None:
        """Run the previous call when a new one begins."""
        known = len(self._calls)
        super().add_call(delta)
        if 0 < known < len(self._calls):
            self.loop.run_early(self._calls[known - 1].whole())


def _ended(handler: Handler, arguments: Mapping[str, Any]) -> Handler:
    """Run the handler now; the new handler returns or raises the same."""
    try:
        value = handler(**arguments)
    except Exception as error:  # noqa: BLE001  whatever a tool raises is its result

        def handle(raised: Exception = error, **_: Any) -> Any:
            raise raised

        return handle
    return lambda **_: value
