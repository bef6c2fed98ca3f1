"""Calls that are read otherwise out of a stream of Chat Completions: `ChatStream.add_call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck_reference.errors import BadArguments
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.tools import Handler
from looptck_reference.values import Json, ToolCall
from looptck_reference.wires import ChatStream, ChatWire, Wire


class SixPieces(Mutant):
    """Stops to read a call after its sixth piece: `mode-streamed-calls-are-accumulated`."""

    breaks = ("mode-streamed-calls-are-accumulated",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            if not self._calls or len(self._calls[-1].arguments) < 6 or delta.get("id"):
                super().add_call(delta)

    wires = streaming(chat=Stream)


class RunsAtTheNext(Mutant):
    """Runs a call once the next of its turn begins: `mode-calls-are-collected-before-any-runs`."""

    breaks = ("mode-calls-are-collected-before-any-runs",)
    cells = CHAT_STREAM

    class loop(Loop):  # noqa: N801  the driver's attribute
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
    """The wire of `RunsAtTheNext`: it knows the loop, as only its stream sees the calls while they are written."""

    def __init__(self, loop: RunsAtTheNext.loop) -> None:
        self.loop = loop

    def stream(self) -> ChatStream:
        """A stream that has calls run."""
        return EagerStream(self.loop)


class EagerStream(ChatStream):
    """The stream of `RunsAtTheNext`."""

    def __init__(self, loop: RunsAtTheNext.loop) -> None:
        super().__init__()
        self.loop = loop

    def add_call(self, delta: Json) -> None:
        """Run the call before the one that begins."""
        known = len(self._calls)
        super().add_call(delta)
        if 0 < known < len(self._calls):
            self.loop.run_early(self._calls[known - 1].whole())


def _ended(handler: Handler, arguments: Mapping[str, Any]) -> Handler:
    """A handler that does again how this one ended: it returns or raises the same."""
    try:
        value = handler(**arguments)
    except Exception as error:  # noqa: BLE001  whatever a tool raises is its result

        def handle(raised: Exception = error, **_: Any) -> Any:
            raise raised

        return handle
    return lambda **_: value
