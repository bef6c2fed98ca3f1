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
    TOGETHER   the end of all tools of a turn     tools_ended(ends)
    ENDED      nothing                            -

Each of them returns an action, and the action is the next state: Ask leads to ASKING, Run to RUNNING, RunAll to
TOGETHER, Finish and Fail to ENDED. A report in any other state is `OutOfTurn`. Nothing here waits, reads or writes, so
the synchronous and the asynchronous runner share all of it.

Invariants, which the tests check against random histories:

* in every history that is asked with, each call of a turn that ran is answered once, in order, with its own id, right
  behind its turn;
* the model is asked at most `limit` times;
* a call of a cut, refused or paused turn is never run.

What a variant may bend is in `seams`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from looptck_reference.actions import Action, Ask, End, Fail, Finish, Raised, Returned, Run, RunAll
from looptck_reference.dialects import CORE, Dialect, FeedBack, Policy, Propagate, Raise
from looptck_reference.errors import BadArguments, OutOfTurn, Reason, TurnCut, UnknownTool
from looptck_reference.seams import Decision, Seams
from looptck_reference.values import Answer, Stop, ToolCall, ToolResult, Turn

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.registry import Registry
    from looptck_reference.wires.base import Wire

__all__ = ["Loop"]


class State(Enum):
    """What the loop waits for."""

    IDLE = auto()
    ASKING = auto()
    RUNNING = auto()
    TOGETHER = auto()
    ENDED = auto()


STATE_AFTER = {Ask: State.ASKING, Run: State.RUNNING, RunAll: State.TOGETHER, Finish: State.ENDED, Fail: State.ENDED}


class Loop(Seams):
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
        super().__init__(agent, wire, dialect, limit, registry, keep_rounds)
        self.end: Finish | Fail | None = None
        self.not_run: list[tuple[ToolCall, Exception]] = []
        """The calls that could not be run, and why: nobody knew the tool, or its arguments were no JSON."""
        self._state = State.IDLE
        self._waiting: deque[ToolCall] = deque()
        self._running: ToolCall | None = None
        self._results: list[ToolResult] = []
        self._together: list[ToolResult | Run] = []

    # Reports

    def start(self) -> Action:
        """Begin."""
        self._expect(State.IDLE)
        return self._enter(self._ask())

    def model_answered(self, turn: Turn) -> Action:
        """The model replied with this turn."""
        self._expect(State.ASKING)
        if turn.usage is not None:
            self.usage.append(turn.usage)
        decision = self.decide(turn)
        if decision is Decision.ANSWER:
            return self._enter(self.stop(turn))
        if decision is Decision.REFUSE:
            return self._enter(Fail(_cut(turn), TurnCut.reason))
        self.append_turn(turn)
        if decision is Decision.RESUME:
            return self._enter(self._ask())
        self._waiting.extend(self.calls_of(turn))
        return self._enter(self._at_once() if self.dialect.parallel else self._next())

    def tool_returned(self, value: object) -> Action:
        """The tool that was to be run returned this value."""
        return self._enter(self._continue(self._result(self._ran(), Returned(value))))

    def tool_raised(self, error: Exception) -> Action:
        """The tool that was to be run raised this exception."""
        return self._enter(self._continue(self._result(self._ran(), Raised(error))))

    def tools_ended(self, ends: Sequence[End]) -> Action:
        """The tools that were to be run together have ended so; one for each, in their order."""
        self._expect(State.TOGETHER)
        left = deque(ends)
        steps = [self._result(one.call, left.popleft()) if isinstance(one, Run) else one for one in self._together]
        self._together = []
        return self._enter(self._gathered(steps))

    @property
    def answer(self) -> Answer:
        """What the caller gets.

        Raises:
            OutOfTurn: the loop has not come to an answer.
        """
        if not isinstance(self.end, Finish):
            raise OutOfTurn("the loop has no answer: it has not ended, or it has failed")
        return self.end.answer

    # The machine

    def _ask(self) -> Action:
        if self.limit_reached():
            refusal = self.dialect.limit_error
            return Fail(refusal.error(refusal.template.format(limit=self.limit)), "limit")
        self.model_calls += 1
        return Ask(tuple(self.remembered()))

    def _next(self) -> Action:
        """Run the next call of the turn; behind the last one, append what all of them gave and ask again."""
        while self._waiting:
            step = self._prepare(self._waiting.popleft())
            if not isinstance(step, ToolResult):
                self._running = step.call if isinstance(step, Run) else None
                return step
            self._results.append(step)
        results, self._results = self._results, []
        return self._close_round(results)

    def _at_once(self) -> Action:
        """Run all calls of the turn that can be run."""
        steps = [self._prepare(call) for call in self._waiting]
        self._waiting.clear()
        runs = tuple(step for step in steps if isinstance(step, Run))
        failed = any(isinstance(step, Fail) for step in steps)
        if failed or not runs:
            return self._gathered([step for step in steps if not isinstance(step, Run)])
        self._together = [step for step in steps if not isinstance(step, Fail)]
        return RunAll(runs)

    def _gathered(self, steps: Sequence[ToolResult | Fail]) -> Action:
        """The first failure, or all results."""
        results: list[ToolResult] = []
        for step in steps:
            if isinstance(step, Fail):
                return step
            results.append(step)
        return self._close_round(results)

    def _close_round(self, results: Sequence[ToolResult]) -> Action:
        self.append_results(results)
        self.round_ends.append(len(self.history))
        return self._ask()

    def _result(self, call: ToolCall, end: End) -> ToolResult | Fail:
        """What the model is told of the end of a tool."""
        if isinstance(end, Raised):
            return self._fault(self.dialect.tool_raises, call, end.error, "tool")
        try:
            text = self.dialect.result_text(end.value)
        except Exception as error:  # noqa: BLE001 - a value that has no text is the tool's fault, like an exception
            return self._fault(self.dialect.tool_raises, call, error, "tool")
        return ToolResult(self.answer_id(call), call.name, text, extra=call.extra)

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
