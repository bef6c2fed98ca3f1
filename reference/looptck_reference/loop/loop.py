"""The agent loop: the whole algorithm, as a state machine without I/O.

An agent loop is a conversation with two partners. The model is asked with everything said so far. If its turn calls
tools, the turn is appended to the history, the calls are run, their results are appended after it, and the model is
asked again. If its turn calls none, its text is the answer. A turn that the provider paused is appended as it is, and
the model is asked to continue it.

The runner reports what happened, and executes the action that it gets back:

    state      awaited event                method that reports it     action that leads to the state
    -------    -------------------------    -----------------------    ------------------------------
    IDLE       the start of the run         start()                    -
    ASKING     the turn of the model        model_answered(turn)       Ask
    RUNNING    the end of a batch of tools  tools_ended(ends)          RunTools
    ENDED      nothing                      -                          Finish, Fail

A report in any other state is `OutOfTurn`. Nothing here waits, reads or writes, so the synchronous and the asynchronous
runner share all of it. A batch is one call, or all calls of a turn if the dialect runs them at the same time.

Invariants, which the tests check against random histories:

* in every history that is sent, each call of a turn that ran is answered once, in order, with its own id, directly
  after its turn;
* the model is asked at most `limit` times;
* a call of a truncated, refused or paused turn is never run.

Each step that other loops may do differently is a small public method: a subclass that overrides one works with runner
and driver unchanged, and each mutant of the kit breaks exactly one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from looptck_reference.loop import tools
from looptck_reference.loop.actions import Action, Ask, End, Fail, Finish, Raised, Run, RunTools
from looptck_reference.loop.dialects import CORE, Dialect, FeedBack, Policy, Propagate, Raise
from looptck_reference.loop.errors import BadArguments, OutOfTurn, Reason, TurnCut, UnknownTool
from looptck_reference.loop.registry import Registry
from looptck_reference.loop.values import Answer, Delta, Json, Stop, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from looptck_reference.loop.agent import Agent
    from looptck_reference.loop.tools import Handler, Tool
    from looptck_reference.wires.base import Wire

__all__ = ["Decision", "Loop"]


class Decision(Enum):
    """The consequence of a model turn."""

    RUN = auto()
    RESUME = auto()
    ANSWER = auto()
    FAIL = auto()


class State(Enum):
    """The report that the loop waits for."""

    IDLE = auto()
    ASKING = auto()
    RUNNING = auto()
    ENDED = auto()


STATE_AFTER = {Ask: State.ASKING, RunTools: State.RUNNING, Finish: State.ENDED, Fail: State.ENDED}


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
        keep_rounds: int | None = None,
    ) -> None:
        self.agent = agent
        self.wire = wire
        self.dialect = dialect
        self.limit = dialect.limit if limit is None else limit
        self.tools = agent.offered
        handlers = {tool.name: tool.handler for tool in agent.tools if tool.handler is not None}
        self.registry = (registry or Registry()).for_run(handlers)
        self.keep_rounds = keep_rounds
        self.history: list[Json] = wire.opening(agent.messages)
        self.round_ends = [len(self.history)]
        """The length of the history before the first round, and after each round."""
        self.model_calls = 0
        self.usage: list[Any] = []
        self.carried: Json = {}
        """What the model's turns have asked to be sent beside the history."""
        self.end: Finish | Fail | None = None
        self.not_run: list[tuple[ToolCall, Exception]] = []
        """The calls that could not be run, with the reason: an unknown tool, or arguments that were no JSON object."""
        self._state = State.IDLE
        self._waiting: deque[ToolCall] = deque()
        self._batch: list[Run | ToolResult] = []
        self._results: list[ToolResult] = []

    # -- reports: what happened, and what to do next ------------------------------------------------------------------

    def start(self) -> Action:
        """Begin."""
        self._expect(State.IDLE)
        return self._enter(self.ask())

    def model_answered(self, turn: Turn) -> Action:
        """The model replied with this turn."""
        self._expect(State.ASKING)
        if turn.usage is not None:
            self.usage.append(turn.usage)
        self.carried |= turn.carried
        match self.decide(turn):
            case Decision.ANSWER:
                return self._enter(self.stop(turn))
            case Decision.FAIL:
                return self._enter(Fail(_truncated(turn), TurnCut.reason))
            case Decision.RESUME:
                self.append_turn(turn)
                return self._enter(self.ask())
            case Decision.RUN:
                self.append_turn(turn)
                self._waiting.extend(self.calls_of(turn))
                return self._enter(self._next())

    def tools_ended(self, ends: Sequence[End]) -> Action:
        """The tools of the batch have ended; one end for each, in their order."""
        self._expect(State.RUNNING)
        runs = [one for one in self._batch if isinstance(one, Run)]
        if len(ends) != len(runs):
            raise OutOfTurn(f"{len(ends)} ends were reported for {len(runs)} tools")
        left = iter(ends)
        done = [self.result(one.call, next(left)) if isinstance(one, Run) else one for one in self._batch]
        return self._enter(self._take(done) or self._next())

    @property
    def answer(self) -> Answer:
        """The caller's answer.

        Raises:
            OutOfTurn: the loop has no answer.
        """
        if not isinstance(self.end, Finish):
            raise OutOfTurn("the loop has no answer: it has not ended, or it has failed")
        return self.end.answer

    # -- the model ----------------------------------------------------------------------------------------------------

    def ask(self) -> Action:
        """Ask the model, or fail because the limit is reached."""
        if self.limit_reached():
            refusal = self.dialect.limit_error
            return Fail(refusal.error(refusal.template.format(limit=self.limit)), "limit")
        self.model_calls += 1
        return Ask(tuple(self.remembered()), self.carried)

    def limit_reached(self) -> bool:
        """Checked before each model call, so the tools of the last round have run when the limit is reached."""
        return self.model_calls >= self.limit

    def remembered(self) -> Sequence[Json]:
        """The part of the history that is sent: the prompt, and the rounds to keep.

        A round is a turn with calls and its results, with the paused turns before it. It is sent as a whole or not at
        all, so that no call loses its result.
        """
        if self.keep_rounds is None:
            return self.history
        prompt, first_kept = self.round_ends[0], max(0, len(self.round_ends) - 1 - self.keep_rounds)
        return self.history[:prompt] + self.history[self.round_ends[first_kept] :]

    def forwards(self, delta: Delta) -> bool:
        """Whether text is forwarded when it arrives: always, unless the dialect withholds the text of tool turns."""
        return not (delta.calling and self.dialect.holds_back_tool_turns)

    def decide(self, turn: Turn) -> Decision:
        """A paused turn continues and a refused turn is an answer, even with calls; a truncated turn never runs.

        For other turns, wire and dialect decide at which stops calls count.
        """
        if turn.stop is Stop.PAUSE:
            return Decision.RESUME
        if not turn.calls or turn.stop is Stop.REFUSAL:
            return Decision.ANSWER
        if turn.stop.truncated:
            return Decision.FAIL
        calls_are_meant = turn.stop in self.wire.runs_calls_on and turn.stop in self.dialect.runs_calls_on
        return Decision.RUN if calls_are_meant else Decision.ANSWER

    def append_turn(self, turn: Turn) -> None:
        """Append the turn: the model must see its calls before their results, and a paused turn to continue it."""
        self.history += self.wire.echo(turn)

    def stop(self, turn: Turn) -> Action:
        """End with the turn's text. It may be empty, or belong to a turn that announced calls and made none."""
        stop = Stop.END if turn.stop in {Stop.CALLS, Stop.PAUSE} else turn.stop
        return Finish(Answer(turn.text, stop, tuple(self.usage), turn.calls))

    # -- the tools ----------------------------------------------------------------------------------------------------

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        """All calls of the turn, in order, including calls that share an id."""
        return turn.calls

    def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
        """The runnable call, or the consequence of a call that cannot be run."""
        try:
            arguments = self.parse_arguments(call.arguments)
        except BadArguments as error:
            self.not_run.append((call, error))
            return self.fault(self.dialect.bad_arguments, call, error, error.reason)
        handler = self.handler_for(call)
        if handler is None:
            unknown = UnknownTool(f"no handler is registered for tool {call.name!r}; there are {sorted(self.tools)}")
            self.not_run.append((call, unknown))
            return self.fault(self.dialect.unknown_tool, call, unknown, unknown.reason)
        return Run(call, handler, self.bind(self.tools.get(call.name), arguments))

    def parse_arguments(self, text: str) -> Json:
        """The text of the arguments as keyword arguments; see `tools.parse_arguments`."""
        return tools.parse_arguments(text)

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        """Inputs override the model's arguments; see `tools.bind`."""
        return tools.bind(tool, arguments, self.agent.inputs)

    def handler_for(self, call: ToolCall) -> Handler | None:
        """The handler of the tool's name, or else of its kind; None if there is neither."""
        return self.handler_of_name(call) or self.handler_of_kind(call)

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        """The first layer, by the exact name of the tool that was offered under the call's name."""
        tool = self.tools.get(call.name)
        return self.registry.get_tool(call.name if tool is None else tool.name)

    def handler_of_kind(self, call: ToolCall) -> Handler | None:
        """The second layer; a tool that the agent does not have has no kind."""
        tool = self.tools.get(call.name)
        handler = None if tool is None else self.registry.get_tool_handler(tool.kind)
        if tool is None or handler is None:
            return None
        return lambda **arguments: handler(tool, arguments, self.agent, self.agent.inputs)

    def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        """The result that the model reads for the end of a tool. A value without a text form is the tool's fault."""
        if isinstance(end, Raised):
            return self.fault(self.dialect.tool_raises, call, end.error, "tool")
        try:
            text = self.dialect.result_text(end.value)
        except Exception as error:  # noqa: BLE001 - see above
            return self.fault(self.dialect.tool_raises, call, error, "tool")
        return ToolResult(self.answer_id(call), call.name, text, extra=call.extra)

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        """The consequence of a faulty call: an error result, or the failure of the run."""
        tool = self.tools.get(call.name)
        kind = tool.kind if tool else "function"
        words = {"name": call.name, "kind": kind, "type": type(error).__name__, "message": error}
        match policy:
            case FeedBack(template):
                text = template.format(**words)
                return ToolResult(self.answer_id(call), call.name, text, failed=True, extra=call.extra)
            case Raise(error_type, template):
                raised = error_type(template.format(**words))
                raised.__cause__ = error
                return Fail(raised, reason)
            case Propagate():
                return Fail(error, reason)

    def answer_id(self, call: ToolCall) -> str:
        """The id of a result: ids are opaque and are sent back unchanged."""
        return call.id

    def append_results(self, results: Sequence[ToolResult]) -> None:
        """Append one result for each call, in call order, with nothing between them."""
        self.history += self.wire.results(results)

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        """All calls of the turn are answered: append the results, and ask again."""
        self.append_results(results)
        self.round_ends.append(len(self.history))
        return self.ask()

    # -- the machine --------------------------------------------------------------------------------------------------

    def _next(self) -> Action:
        """Run the next batch; after the last one, close the round."""
        while self._waiting:
            size = len(self._waiting) if self.dialect.parallel else 1
            steps = [self.prepare(self._waiting.popleft()) for _ in range(size)]
            self._batch = [step for step in steps if not isinstance(step, Fail)]
            runs = tuple(step for step in steps if isinstance(step, Run))
            if runs and len(self._batch) == len(steps):
                return RunTools(runs)
            if failure := self._take([step for step in steps if not isinstance(step, Run)]):
                return failure
        results, self._results = self._results, []
        return self.close_round(results)

    def _take(self, done: Sequence[ToolResult | Fail]) -> Fail | None:
        """Keep the results of a batch; the first failure, if there is one."""
        self._results += [one for one in done if isinstance(one, ToolResult)]
        return next((one for one in done if isinstance(one, Fail)), None)

    def _expect(self, state: State) -> None:
        if self._state is not state:
            raise OutOfTurn(f"the loop is {self._state.name}; this can be reported only while it is {state.name}")

    def _enter(self, action: Action) -> Action:
        self._state = STATE_AFTER[type(action)]
        if isinstance(action, Finish | Fail):
            self.end = action
        return action


def _truncated(turn: Turn) -> TurnCut:
    by = {Stop.LENGTH: "the token limit, so allow it more tokens", Stop.CONTENT_FILTER: "the provider's content filter"}
    names = ", ".join(call.name for call in turn.calls)
    return TurnCut(f"nothing was run: a turn that called {names} was truncated ({turn.stop}) by {by[turn.stop]}")
