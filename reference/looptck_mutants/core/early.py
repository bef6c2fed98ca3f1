"""Calls that run before their turn is complete: the seam `ChatStream.add_call`, in a wire that knows the loop."""

from __future__ import annotations

from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall
from looptck_reference.wires import ChatStream, ChatWire, Wire


@breaks("calls-run-after-the-stream-ends", cells=CHAT_STREAM)
class Eager(Loop):
    """Runs a call when its closing brace arrives as a separate delta."""

    def __init__(self, agent: Agent, *, wire: Wire, **options: Any) -> None:
        super().__init__(agent, wire=EagerChat(self) if isinstance(wire, ChatWire) else wire, **options)
        self.gave: dict[str, object] = {}

    def run_early(self, call: ToolCall) -> None:
        """Run the call, and keep its result."""
        handler = super().handler_for(call)
        if handler is not None and call.id not in self.gave:
            self.gave[call.id] = handler(**self.parse_arguments(call.arguments))

    def handler_for(self, call: ToolCall) -> Handler | None:
        return (lambda **_: self.gave[call.id]) if call.id in self.gave else super().handler_for(call)


class EagerChat(ChatWire):
    """The wire of `Eager`; it knows the loop, because only its stream sees incomplete turns."""

    def __init__(self, loop: Eager) -> None:
        self.loop = loop

    def stream(self) -> ChatStream:
        """A stream that can run calls of the loop."""
        return EagerStream(self.loop)


class EagerStream(ChatStream):
    """The stream of `Eager`."""

    def __init__(self, loop: Eager) -> None:
        super().__init__()
        self.loop = loop

    def add_call(self, delta: Json) -> None:
        """Run the call if it is complete."""
        super().add_call(delta)
        call = self._calls[-1].whole()
        if delta["function"].get("arguments") == "}" and call.arguments != "{}":
            self.loop.run_early(call)
