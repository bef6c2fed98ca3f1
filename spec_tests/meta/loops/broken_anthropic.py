"""Broken loops for the profile ``anthropic-loop``: each keeps to the skill's letter or to a mistake people make."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.agent import Agent
from looptck_reference.dialects import ANTHROPIC_LOOP, Dialect, FeedBack, Propagate
from looptck_reference.driver import Driver
from looptck_reference.errors import BadArguments
from looptck_reference.loop import Loop
from looptck_reference.seams import Decision
from looptck_reference.tools import Handler, parse_arguments
from looptck_reference.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import MessagesStream, MessagesWire
from looptck_reference.wires.anthropic_messages import STOPS
from looptck_reference.wires.anthropic_messages_stream import PartialBlock
from meta.loops.speaking import speaking


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with other answers to some questions of the skill's."""
    return {**Driver.dialects, "anthropic-loop": replace(ANTHROPIC_LOOP, **answers)}


# -- stop reasons ---------------------------------------------------------------------------------------------------


class WhateverItIsCalled(MessagesWire):
    """Takes a stop reason that it does not know for tool_use."""

    def turn(
        self, blocks: Sequence[Json], stop_reason: str, usage: Mapping[str, Any] | None, written: Mapping[int, str]
    ) -> Turn:
        known = stop_reason in {*STOPS, "end_turn", "stop_sequence"}
        return super().turn(blocks, stop_reason if known else "tool_use", usage, written)


class UnknownStopsRun(Driver):
    """Runs the calls of a turn whose stop reason it does not know: `claude-unknown-stop-reason-runs-nothing`."""

    wires = speaking(messages=WhateverItIsCalled())


class EmptyMessage(Driver):
    """Answers a paused turn with a user message that holds nothing: `claude-paused-turn-is-resumed`."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if turn.stop is Stop.PAUSE:
                self.append_results([])


class Nobody(Driver):
    """Answers a turn that announced calls and made none with an empty message: `claude-nothing-empty-is-sent`."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.stop is Stop.CALLS else super().decide(turn)


# -- calls and results ----------------------------------------------------------------------------------------------


class OneByOne(Driver):
    """Claims to run calls at the same time, and runs one after the other: `claude-calls-run-at-the-same-time`."""

    dialects = otherwise(parallel=False)


class AsTheyEnd(Driver):
    """Sends results in the order of the names of their tools: `claude-results-keep-call-order`."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(sorted(results, key=lambda result: (result.name, result.text), reverse=True))


class OneShort(Driver):
    """Forgets the result of the last of several calls: `claude-every-call-is-answered`."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[:1] if len(results) > 1 else results)


class OtherIds(Driver):
    """Makes ids of its own: `claude-results-carry-their-ids`."""

    class loop(Loop):  # noqa: N801
        def answer_id(self, call: ToolCall) -> str:
            return f"{call.id}-1"


class AnyContent(MessagesWire):
    """Sends a result as what its text stands for, whatever that is."""

    def result(self, result: ToolResult) -> Json:
        block = super().result(result)
        try:
            return {**block, "content": json.loads(result.text)}
        except ValueError:
            return block


class ObjectsAsContent(Driver):
    """Sends bare objects and numbers as content: `claude-content-is-text-or-blocks`."""

    wires = speaking(messages=AnyContent())


class Throws(Driver):
    """Hands the error of a tool to its caller: `claude-tool-errors-are-not-thrown`."""

    dialects = otherwise(tool_raises=Propagate())


class Unmarked(MessagesWire):
    """Sends errors as if they were results."""

    def result(self, result: ToolResult) -> Json:
        return super().result(replace(result, failed=False))


class ErrorsUnmarked(Driver):
    """Tells the model of an error, and not that it is one: `claude-failed-results-are-marked`."""

    wires = speaking(messages=Unmarked())


class Reticent(Driver):
    """Tells the model that a tool has failed, and not why: `claude-failed-results-tell-why`."""

    dialects = otherwise(tool_raises=FeedBack("Error"))


class Ignored(Driver):
    """Passes over calls of tools that it does not know: `claude-unknown-tool-is-never-unanswered`."""

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return [call for call in turn.calls if self.handler_for(call) is not None]


# -- streams --------------------------------------------------------------------------------------------------------


class ParsesNothing(Driver):
    """Hands an empty input to the parser: `claude-empty-input-is-an-object`."""

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            return super().parse_arguments(text) if text else json.loads(text)


class EarlyWire(MessagesWire):
    """The wire of an eager loop, which only its stream can tell of calls while they are written."""

    def __init__(self, loop: Early.loop) -> None:
        self.loop = loop

    def stream(self) -> MessagesStream:
        """A stream that has calls run."""
        return EarlyStream(self)


class EarlyStream(MessagesStream):
    """The stream of an eager loop."""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        """Run the call if its input reads as an object by now."""
        super().add_input(block, piece)
        text = "".join(block.input)
        try:
            arguments = parse_arguments(text)
        except BadArguments:
            return
        if text and isinstance(self._wire, EarlyWire):
            self._wire.loop.run_early(ToolCall(block.head["id"], block.head["name"], text), arguments)


class Early(Driver):
    """Not broken: it says that it starts calls early, and runs each of them once."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, wire: Any, **options: Any) -> None:
            super().__init__(agent, wire=wire, **options)
            if isinstance(wire, MessagesWire):
                self.wire = EarlyWire(self)
            self.gave: dict[str, Callable[..., object]] = {}

        def run_early(self, call: ToolCall, arguments: Json) -> None:
            """Run a call, and keep what came of it."""
            handler = super().handler_for(call)
            if handler is None or call.id in self.gave:
                return
            try:
                value = handler(**arguments)
            except Exception as error:  # noqa: BLE001 - the tool's, and the loop's to deal with when the turn is whole
                self.gave[call.id] = _raising(error)
            else:
                self.gave[call.id] = lambda **_: value

        def handler_for(self, call: ToolCall) -> Handler | None:
            return self.gave.get(call.id) or super().handler_for(call)

    def start(self) -> Json:
        """Sync alone: what runs inside a stream cannot be awaited there."""
        started = super().start()
        return {**started, "modes": ["sync"], "capabilities": {**started["capabilities"], "eager": True}}


class Twice(Early):
    """Runs a call again that it has started early: `claude-eager-calls-run-at-most-once`."""

    class loop(Early.loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            self.gave.pop(call.id, None)
            return super().handler_for(call)


class Secretly(Early):
    """Starts calls early and does not say so: `claude-nothing-runs-before-the-stop-reason`."""

    def start(self) -> Json:
        """Without the word."""
        started = super().start()
        return {**started, "capabilities": {**started["capabilities"], "eager": False}}


# -- pruning --------------------------------------------------------------------------------------------------------


class HalfRounds(Driver):
    """Prunes old results and leaves their calls: `claude-pruning-leaves-no-orphan`."""

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            if self.keep_rounds is None:
                return self.history
            full = [message for message in self.history if _has_results(message)]
            old = full[: len(full) - self.keep_rounds]
            return [message for message in self.history if message not in old]


class NoneIsAll(Driver):
    """Keeps all rounds where it is to keep none, as `list[-0:]` does: `claude-pruning-to-none-drops-all`."""

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            return super().remembered() if self.keep_rounds else self.history


class Headless(Driver):
    """Prunes the prompt with the rounds: `claude-pruning-keeps-the-prompt`."""

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            kept = super().remembered()
            pruned = len(kept) < len(self.history)
            return kept[self.round_ends[0] :] if pruned and len(kept) > self.round_ends[0] else kept


def _has_results(message: Json) -> bool:
    blocks = message["content"] if isinstance(message["content"], list) else []
    return any(block.get("type") == "tool_result" for block in blocks)


def _raising(error: Exception) -> Callable[..., object]:
    def again(**_: Any) -> object:
        raise error

    return again
