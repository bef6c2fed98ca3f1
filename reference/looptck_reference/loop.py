"""The agent loop as a state machine, without I/O.

An agent loop is a conversation with two partners. The model is asked with everything said so far. If its turn calls
tools, the turn is appended to the history, each call is run, the results are appended behind it, and the model is
asked again. If its turn calls none, its text is the answer. A turn that the provider paused is appended as it is, and
the model is asked to go on with it.

Whoever drives the loop tells it what happened and does what it says next:

    state      what it waits for                  method that reports it
    -------    -------------------------------    -------------------------------
    IDLE       to be started                      start()
    ASKING     the turn of the model              model_answered(turn)
    RUNNING    the end of one tool                tool_returned(value), tool_raised(error)
    ENDED      nothing                            -

Each of them returns an action, and the action is the next state: Ask leads to ASKING, Run to RUNNING, Finish and
Fail to ENDED. A report in any other state is `OutOfTurn`. Nothing here waits, reads or writes, so the synchronous
and the asynchronous runner share all of it.

Invariants, which the tests check against random histories:

* in every history that is asked with, each call of a turn that ran is answered once, in order, with its own id, right
  behind its turn;
* the model is asked at most `limit` times;
* a call of a cut, refused or paused turn is never run.

Seams. These are the joints at which a variant may bend the loop; each is one small method, a subclass that
overrides one goes through runner and driver unchanged, and each mutant of the kit breaks exactly one:

    limit_reached()          whether the model may not be asked again
    decide(turn)             run the turn's calls, or go on with a paused turn, or take its text for the answer, or
                             refuse a cut turn: truncated, refused and ended turns are never run here
    append_turn(turn)        the echo of the model's turn in the history
    calls_of(turn)           which calls are run, and in which order
    parse_arguments(text)    the text of the arguments as keyword arguments
    bind(tool, arguments)    inputs that override the model's arguments
    handler_for(call)        dispatch: which function a call means; handler_of_name and handler_of_kind are its layers
    answer_id(call)          the id under which a result goes back
    append_results(results)  the results behind the turn
    forwards(delta)          whether streamed text goes to the caller now
    stop(turn)               the end of the run

and on the wire's side, reached by substituting the wire, where `Messages…` is Anthropic Messages:

    Wire.echo(turn)                  the turn's own blocks or items: text, thinking, signatures, reasoning, calls
    Wire.results(results)            how many messages the results are, and what stands in them
    Wire.reader                      the class that cuts bytes into events; its `lines` knows what ends a line
    ResponsesWire.call(item)         which of an item's ids is the call's; `MessagesWire.call` likewise
    MessagesWire.turn(…)             blocks and stop reason as a turn; `ResponsesWire.decode` likewise
    EventStream.refuse_error(event)  an error inside a stream
    EventStream.whole()              whether the end of the stream came
    ChatStream.call_for(index, id), MessagesStream.block_at(index), ResponsesStream.item_for(index, id)
                                     which of several interleaved parts a delta belongs to
    ChatStream.add_call(delta), MessagesStream.add_input(block, piece), ResponsesStream.add_arguments(item, piece)
                                     what happens to a piece of arguments
    ResponsesStream.output()         whether the last event's items count, or those that were streamed
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from looptck_reference import tools
from looptck_reference.actions import Action, Ask, Fail, Finish, Run
from looptck_reference.dialects import CORE, Dialect, FeedBack, Policy, Propagate, Raise
from looptck_reference.errors import BadArguments, OutOfTurn, Reason, TurnCut, UnknownTool
from looptck_reference.registry import Registry
from looptck_reference.values import Answer, Delta, Json, Stop, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.tools import Handler, Tool
    from looptck_reference.wires.base import Wire

__all__ = ["Decision", "Loop"]


class State(Enum):
    """What the loop waits for."""

    IDLE = auto()
    ASKING = auto()
    RUNNING = auto()
    ENDED = auto()


class Decision(Enum):
    """What a turn of the model leads to."""

    RUN = auto()
    RESUME = auto()
    ANSWER = auto()
    REFUSE = auto()


STATE_AFTER = {Ask: State.ASKING, Run: State.RUNNING, Finish: State.ENDED, Fail: State.ENDED}


class Loop:
    """One run of one agent."""

    def __init__(
        self,
        agent: Agent,
        *,
        wire: Wire,
        dialect: Dialect = CORE,
        limit: int | None = None,
        registry: Registry | None = None,
    ) -> None:
        self.agent = agent
        self.wire = wire
        self.dialect = dialect
        self.limit = dialect.limit if limit is None else limit
        self.tools = {tool.name: tool for tool in agent.tools}
        self.registry = (registry or Registry()).for_run(
            {tool.name: tool.handler for tool in agent.tools if tool.handler is not None}
        )
        self.history: list[Json] = wire.opening(agent.messages)
        self.model_calls = 0
        self.end: Finish | Fail | None = None
        self.not_run: list[tuple[ToolCall, Exception]] = []
        """The calls that could not be run, and why: nobody knew the tool, or its arguments were no JSON."""
        self._state = State.IDLE
        self._usage: list[Any] = []
        self._waiting: deque[ToolCall] = deque()
        self._running: ToolCall | None = None
        self._results: list[ToolResult] = []

    # Reports

    def start(self) -> Action:
        """Begin."""
        self._expect(State.IDLE)
        return self._enter(self._ask())

    def model_answered(self, turn: Turn) -> Action:
        """The model replied with this turn."""
        self._expect(State.ASKING)
        if turn.usage is not None:
            self._usage.append(turn.usage)
        decision = self.decide(turn)
        if decision is Decision.ANSWER:
            return self._enter(self.stop(turn))
        if decision is Decision.REFUSE:
            return self._enter(Fail(_cut(turn), TurnCut.reason))
        self.append_turn(turn)
        if decision is Decision.RESUME:
            return self._enter(self._ask())
        self._waiting.extend(self.calls_of(turn))
        return self._enter(self._next())

    def tool_returned(self, value: object) -> Action:
        """The tool that was to be run returned this value."""
        call = self._ran()
        try:
            text = self.dialect.result_text(value)
        except Exception as error:  # noqa: BLE001 - a value that has no text is the tool's fault, like an exception
            return self._enter(self._continue(self._fault(self.dialect.tool_raises, call, error, "tool")))
        return self._enter(self._continue(ToolResult(self.answer_id(call), call.name, text, extra=call.extra)))

    def tool_raised(self, error: Exception) -> Action:
        """The tool that was to be run raised this exception."""
        call = self._ran()
        return self._enter(self._continue(self._fault(self.dialect.tool_raises, call, error, "tool")))

    @property
    def answer(self) -> Answer:
        """What the caller gets.

        Raises:
            OutOfTurn: the loop has not come to an answer.
        """
        if not isinstance(self.end, Finish):
            raise OutOfTurn("the loop has no answer: it has not ended, or it has failed")
        return self.end.answer

    # Seams

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
        return Finish(Answer(turn.text, stop, tuple(self._usage), turn.calls))

    # The machine

    def _ask(self) -> Action:
        if self.limit_reached():
            refusal = self.dialect.limit_error
            return Fail(refusal.error(refusal.template.format(limit=self.limit)), "limit")
        self.model_calls += 1
        return Ask(tuple(self.history))

    def _next(self) -> Action:
        """Run the next call of the turn; behind the last one, append what all of them gave and ask again."""
        while self._waiting:
            step = self._prepare(self._waiting.popleft())
            if not isinstance(step, ToolResult):
                return step
            self._results.append(step)
        results, self._results = self._results, []
        self.append_results(results)
        return self._ask()

    def _prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
        try:
            arguments = self.parse_arguments(call.arguments)
        except BadArguments as error:
            self.not_run.append((call, error))
            return self._fault(self.dialect.bad_arguments, call, error, error.reason)
        handler = self.handler_for(call)
        if handler is None:
            unknown = UnknownTool(f"no handler is registered for tool {call.name!r}; there are {sorted(self.tools)}")
            self.not_run.append((call, unknown))
            return self._fault(self.dialect.unknown_tool, call, unknown, unknown.reason)
        self._running = call
        return Run(call, handler, self.bind(self.tools.get(call.name), arguments))

    def _continue(self, step: ToolResult | Fail) -> Action:
        if isinstance(step, Fail):
            return step
        self._results.append(step)
        return self._next()

    def _fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        tool = self.tools.get(call.name)
        words = {
            "name": call.name,
            "kind": tool.kind if tool else "function",
            "type": type(error).__name__,
            "message": error,
        }
        match policy:
            case FeedBack(template):
                told = template.format(**words)
                return ToolResult(self.answer_id(call), call.name, told, failed=True, extra=call.extra)
            case Raise(kind, template):
                raised = kind(template.format(**words))
                raised.__cause__ = error
                return Fail(raised, reason)
            case Propagate():
                return Fail(error, reason)

    def _ran(self) -> ToolCall:
        self._expect(State.RUNNING)
        call, self._running = self._running, None
        assert call is not None
        return call

    def _expect(self, state: State) -> None:
        if self._state is not state:
            message = f"the loop is {self._state.name} and was told what only a loop that is {state.name} can be told"
            raise OutOfTurn(message)

    def _enter(self, action: Action) -> Action:
        self._state = STATE_AFTER[type(action)]
        if isinstance(action, Finish | Fail):
            self.end = action
        return action


def _cut(turn: Turn) -> TurnCut:
    by = {Stop.LENGTH: "the token limit, so allow it more tokens", Stop.CONTENT_FILTER: "the provider's content filter"}
    names = ", ".join(call.name for call in turn.calls)
    return TurnCut(f"nothing was run: a turn that called {names} was truncated ({turn.stop}) by {by[turn.stop]}")
