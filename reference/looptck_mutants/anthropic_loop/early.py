"""Calls that start during a stream: `MessagesStream` sees them first and passes them to the loop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from looptck_mutants.cells import MESSAGES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import Handler, parse_arguments
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import MessagesStream, MessagesWire
from looptck_reference.wires.anthropic_messages_stream import PartialBlock


class Early(Driver):
    """The driver of such loops, in sync mode only, because a tool that runs inside a stream cannot be awaited."""

    eager: ClassVar[bool] = False
    """Whether the driver declares the capability `eager`."""

    def start(self) -> Json:
        """The description, with the capability."""
        started = super().start()
        return {**started, "modes": ["sync"], "capabilities": {**started["capabilities"], "eager": self.eager}}


class Eager(Early):
    """The same driver, with the capability declared."""

    eager = True


@breaks.part_of(Early, "loop")
class EarlyLoop(Loop):
    """Starts calls when its stream asks for it, and does not run them again."""

    stream: ClassVar[type[EarlyStream]]

    def __init__(self, agent: Agent, *, wire: Any, **options: Any) -> None:
        super().__init__(agent, wire=wire, **options)
        if isinstance(wire, MessagesWire):
            self.wire = EarlyWire(self)
        self.gave: dict[str, Handler] = {}

    def start_early(self, block: PartialBlock, text: str) -> None:
        """Run a call with this input if it is valid, and keep the result."""
        call = ToolCall(block.head["id"], block.head["name"], text)
        handler = super().handler_for(call)
        if handler is not None and text and call.id not in self.gave:
            try:
                value = handler(**parse_arguments(text))
            except BadArguments:
                return
            self.gave[call.id] = lambda **_: value

    def handler_for(self, call: ToolCall) -> Handler | None:
        """A handler that returns the kept result, or else the tool's own handler."""
        return self.gave.get(call.id) or super().handler_for(call)


@breaks.part_of(Eager, "loop")
class EagerLoop(EarlyLoop):
    """A loop that declares the capability to start calls early."""


@breaks.part_of(EarlyLoop, "stream")
class EarlyStream(MessagesStream):
    """The stream of a loop that may start calls early."""

    def __init__(self, wire: MessagesWire, loop: EarlyLoop) -> None:
        super().__init__(wire.turn)
        self.loop = loop

    def start(self, blocks: Iterable[PartialBlock]) -> None:
        """Start the calls among the blocks whose input so far is a JSON object."""
        for block in blocks:
            if block.head["type"] == "tool_use":
                self.loop.start_early(block, "".join(block.input))


@breaks.part_of(EagerLoop, "stream")
class AtOnceStream(EarlyStream):
    """Starts a call whose input came in one or two pieces when text follows it."""

    def begin(self, index: Any, head: Json) -> str:
        """A block begins, so the previous block is complete."""
        if head["type"] == "text":
            self.start(block for block in self.blocks[-1:] if len(block.input) < 3)
        return super().begin(index, head)


class EarlyWire(MessagesWire):
    """The wire of such a loop; its stream knows the loop."""

    def __init__(self, loop: EarlyLoop) -> None:
        self.loop = loop

    def stream(self) -> MessagesStream:
        """A stream that can start calls of the loop."""
        return self.loop.stream(self, self.loop)


@breaks("claude-no-input-is-parsed-in-pieces", cells=MESSAGES_STREAM)
class HalfInputStarts(AtOnceStream):
    """Starts a call before the closing brace of its long input has arrived.

    It declares that it starts calls early, which only permits it to start before the stop reason.
    """

    def add_input(self, block: PartialBlock, piece: str) -> None:
        super().add_input(block, piece)
        tool, text = self.loop.tools.get(block.head["name"]), "".join(block.input)
        required = tool.parameters.get("required", ()) if tool and len(block.input) > 12 else ()
        if block.index == 0 and required and all(f'"{name}":' in text for name in required):
            self.loop.start_early(block, text + "}")


@breaks("claude-nothing-runs-before-the-stop-reason", cells=MESSAGES_STREAM)
class LongInputStarts(EarlyStream):
    """Starts calls with long inputs before the stop reason has arrived."""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        super().add_input(block, piece)
        if len(block.input) > 12:
            self.start([block])


@breaks("claude-eager-calls-run-at-most-once", cells=MESSAGES_STREAM)
class EarlyCallsRunAgain(EagerLoop):
    """Starts a call early when text follows it, and runs it again after the turn."""

    stream = AtOnceStream

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.gave.clear()


@breaks("claude-error-event-runs-nothing", cells=MESSAGES_STREAM)
class WholeCallsRunAtAnError(EarlyStream):
    """Runs the complete calls of a stream before it reports the error in the stream."""

    def refuse_error(self, event: Json) -> None:
        if event.get("type") == "error":
            self.start(self.blocks)
        super().refuse_error(event)


@breaks("claude-cut-stream-runs-nothing", cells=MESSAGES_STREAM)
class WholeCallsRunAtTheEnd(EarlyStream):
    """Runs the complete calls of a truncated stream before it reports the truncation."""

    def close(self) -> Turn:
        if not self.whole():
            self.start(self.blocks)
        return super().close()
