"""Seams: the joints at which a variant may bend the loop.

Each is one small method, a subclass that overrides one goes through runner and driver unchanged, and each mutant of the
kit breaks exactly one:

    limit_reached()          whether the model may not be asked again
    decide(turn)             run the turn's calls, or go on with a paused turn, or take its text for the answer, or
                             refuse a cut turn: truncated, refused and ended turns are never run here
    remembered()             what of the history the model is asked with
    append_turn(turn)        the echo of the model's turn in the history
    calls_of(turn)           which calls are run, and in which order
    parse_arguments(text)    the text of the arguments as keyword arguments
    bind(tool, arguments)    inputs that override the model's arguments
    handler_for(call)        dispatch: which function a call means; handler_of_name and handler_of_kind are its layers
    answer_id(call)          the id under which a result goes back
    append_results(results)  the results behind the turn
    forwards(delta)          whether streamed text goes to the caller now
    stop(turn)               the end of the run

on the way of a prompt to its run:

    Loader.child_path(parent, path)  where the file of a child is
    Invoker.begin_child(tool, child, arguments), Invoker.run_child(…)
                                     how a child runs
    Tool.offered                     the schema that the model sees
    Tracing.around()                 what the span of a run is a child of
    RunSpans.model_call(), RunSpans.tool_call(call)
                                     what is told inside a run

and on the wire's side, reached by substituting the wire, where `Messages…` is Anthropic Messages:

    Wire.echo(turn)                  the turn's own blocks or items: text, thinking, signatures, reasoning, calls
    Wire.results(results)            how many messages the results are, and what stands in them
    Wire.reader                      the class that cuts bytes into events; its `lines` knows what ends a line
    ResponsesWire.call(item)         which of an item's ids is the call's; `MessagesWire.call` likewise
    MessagesWire.turn(…)             blocks and stop reason as a turn; `ResponsesWire.decode` likewise
    MessagesWire.stop_for(reason)    why a turn ended, by the wire's word for it
    EventStream.refuse_error(event)  an error inside a stream
    EventStream.whole()              whether the end of the stream came
    ChatStream.call_for(index, id), MessagesStream.block_at(index), ResponsesStream.item_for(index, id)
                                     which of several interleaved parts a delta belongs to
    ChatStream.add_call(delta), MessagesStream.add_input(block, piece), ResponsesStream.add_arguments(item, piece)
                                     what happens to a piece of arguments
    ResponsesStream.output()         whether the last event's items count, or those that were streamed
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from looptck_reference import tools
from looptck_reference.actions import Action, Finish
from looptck_reference.registry import Registry
from looptck_reference.values import Answer, Delta, Json, Stop, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.dialects import Dialect
    from looptck_reference.tools import Handler, Tool
    from looptck_reference.wires.base import Wire

__all__ = ["Decision", "Seams"]


class Decision(Enum):
    """What a turn of the model leads to."""

    RUN = auto()
    RESUME = auto()
    ANSWER = auto()
    REFUSE = auto()


class Seams:
    """What one run of one agent is about, and each step of it that a variant may bend."""

    def __init__(
        self,
        agent: Agent,
        wire: Wire,
        dialect: Dialect,
        limit: int | None,
        registry: Registry | None,
        keep_rounds: int | None,
    ) -> None:
        self.agent = agent
        self.wire = wire
        self.dialect = dialect
        self.limit = dialect.limit if limit is None else limit
        self.tools = {tool.name: tool for tool in agent.tools}
        self.registry = (registry or Registry()).for_run(
            {tool.name: tool.handler for tool in agent.tools if tool.handler is not None}
        )
        self.keep_rounds = keep_rounds
        self.history: list[Json] = wire.opening(agent.messages)
        self.round_ends = [len(self.history)]
        """How long the history was before the first round, and behind each."""
        self.model_calls = 0
        self.usage: list[Any] = []

    def limit_reached(self) -> bool:
        """Checked before each model call, so that the tools of the last round have run when the limit strikes."""
        return self.model_calls >= self.limit

    def decide(self, turn: Turn) -> Decision:
        """A pause goes on and a refusal is an answer, whatever they call; a cut turn never runs.

        Else wire and dialect say at which stops calls count.
        """
        if turn.stop is Stop.PAUSE:
            return Decision.RESUME
        if not turn.calls or turn.stop is Stop.REFUSAL:
            return Decision.ANSWER
        if turn.stop.cut:
            return Decision.REFUSE
        means_it = turn.stop in self.wire.runs_calls_on and turn.stop in self.dialect.runs_calls_on
        return Decision.RUN if means_it else Decision.ANSWER

    def remembered(self) -> Sequence[Json]:
        """What of the history the model is asked with: the prompt, and the rounds that are to be kept.

        A round is a turn with calls and its results, with the paused turns before it; it goes whole or not at all, so
        that no call loses its result.
        """
        if self.keep_rounds is None:
            return self.history
        prompt, first_kept = self.round_ends[0], max(0, len(self.round_ends) - 1 - self.keep_rounds)
        return self.history[:prompt] + self.history[self.round_ends[first_kept] :]

    def append_turn(self, turn: Turn) -> None:
        """The model must see its own calls before their results, and a paused turn to go on with it."""
        self.history += self.wire.echo(turn)

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All of them, in the order of the turn, also where two share an id."""
        return turn.calls

    def parse_arguments(self, text: str) -> Json:
        """See `tools.parse_arguments`."""
        return tools.parse_arguments(text)

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        """See `tools.bind`."""
        return tools.bind(tool, arguments, self.agent.inputs)

    def handler_for(self, call: ToolCall) -> Handler | None:
        """That of the tool's name, else that of its kind; None where there is neither."""
        return self.handler_of_name(call) or self.handler_of_kind(call)

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        """The first layer, by exact name."""
        return self.registry.get_tool(call.name)

    def handler_of_kind(self, call: ToolCall) -> Handler | None:
        """The second layer; a tool that the agent does not have is of no kind."""
        tool = self.tools.get(call.name)
        handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
        if tool is None or handler is None:
            return None
        return lambda **arguments: handler(tool, arguments, self.agent, self.agent.inputs)

    def answer_id(self, call: ToolCall) -> str:
        """Ids are opaque and go back as they came."""
        return call.id

    def append_results(self, results: Sequence[ToolResult]) -> None:
        """One for each call, in call order, nothing between."""
        self.history += self.wire.results(results)

    def forwards(self, delta: Delta) -> bool:
        """Text goes out when it arrives, unless the dialect spares the caller the text of tool turns."""
        return not (delta.calling and self.dialect.holds_back_tool_turns)

    def stop(self, turn: Turn) -> Action:
        """An empty text is an answer too, and so is that of a turn that announced calls and made none."""
        stop = Stop.END if turn.stop in {Stop.CALLS, Stop.PAUSE} else turn.stop
        return Finish(Answer(turn.text, stop, tuple(self.usage), turn.calls))
