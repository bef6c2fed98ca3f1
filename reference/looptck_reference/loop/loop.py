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
    DECIDING   decisions about calls        decided(decisions)         Decide
               nobody who could decide      suspend()
    ENDED      nothing                      -                          Finish, Suspend, Fail

In any state but ENDED the run may also be cancelled: `cancel(ends)`. A report in any other state is `OutOfTurn`.
Nothing here waits, reads or writes, so the synchronous and the asynchronous runner share all of it. A batch is one
call, or all calls of a turn if the dialect runs them at the same time.

Calls that need approval wait until all others of their turn have ended. Then one decision is made about each, and the
approved ones run as any others do. So a run that is suspended has results that nothing obtains a second time, and a
resumed run makes the requests and runs the tools of one that was not interrupted.

Invariants, which the tests check against random histories:

* in every history that is sent, each call of a turn that ran is answered once, in order, with its own id, directly
  after its turn;
* the same holds for `conversation`, whenever it is read, and however the run ends;
* the model is asked at most `limit` times;
* a call of a truncated, refused or paused turn is never run, nor one that needs approval and has none.

Each step that other loops may do differently is a small public method, here or in a base (`Outputs`, `Rounds`,
`Telling`, `Calling`): a subclass that overrides one works with runner and driver unchanged, and each mutant of the kit
breaks exactly one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.outputs import Outputs
from looptck_reference.loop.suspension import Suspension
from looptck_reference.vocabulary.actions import Action, Ask, Decide, End, Fail, Finish, Run, RunTools, Suspend
from looptck_reference.vocabulary.approval import Decision as Approval
from looptck_reference.vocabulary.approval import names_of
from looptck_reference.vocabulary.dialects import CORE, Dialect
from looptck_reference.vocabulary.errors import Cancelled, OutOfTurn, Suspended, TurnCut
from looptck_reference.vocabulary.registry import Registry
from looptck_reference.vocabulary.values import Answer, Delta, Json, Stop, ToolCall, Turn

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.tools import Handler
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
    DECIDING = auto()
    ENDED = auto()


STATE_AFTER = {
    Ask: State.ASKING,
    RunTools: State.RUNNING,
    Decide: State.DECIDING,
    Finish: State.ENDED,
    Suspend: State.ENDED,
    Fail: State.ENDED,
}


class Loop(Outputs):
    """One run of one agent: with these messages and inputs, or the agent's own, after this conversation."""

    def __init__(
        self,
        agent: Agent,
        *,
        wire: Wire,
        dialect: Dialect = CORE,
        limit: int | None = None,
        registry: Registry | None = None,
        keep_rounds: int | None = None,
        conversation: Conversation | None = None,
        messages: Sequence[Json] | None = None,
        inputs: Mapping[str, Any] | None = None,
        team: Mapping[str, Agent] | None = None,
    ) -> None:
        super().__init__()
        before = conversation or Conversation()
        said = agent.messages if messages is None else messages
        self.wire = wire
        self.agent = self.agent_for(agent, before, said, agent.inputs if inputs is None else inputs)
        self.dialect = dialect
        self.limit = dialect.limit if limit is None else limit
        self.tools = agent.offered
        self.team = team or {}
        handlers = {tool.name: tool.handler for tool in agent.tools if tool.handler is not None}
        self.registry = (registry or Registry()).for_run(handlers)
        self.keep_rounds = keep_rounds
        self.history = [*before.history, *wire.opening(self.repair(said))]
        self.round_ends = [len(self.history)]
        self.model_calls = 0
        self.usage: list[Any] = []
        self.carried = dict(before.carried)
        self.end: Finish | Suspend | Fail | None = None
        self.not_run = []
        self._state = State.IDLE

    def agent_for(
        self, agent: Agent, before: Conversation, messages: Sequence[Json], inputs: Mapping[str, Any]
    ) -> Agent:
        """The agent of this run. Instructions beside the history stay for the whole conversation, or until new ones."""
        kept = () if self.wire.instructions(messages) else before.instructions
        if not kept and messages is agent.messages and inputs is agent.inputs:
            return agent
        return replace(agent, messages=[*kept, *messages], inputs=inputs)

    # -- reports: what happened, and what to do next ------------------------------------------------------------------

    def start(self) -> Action:
        """Begin; a resumed run begins with the calls that were decided about."""
        self._expect(State.IDLE)
        return self._enter(self._next() if self._calls else self.ask())

    def model_answered(self, turn: Turn) -> Action:
        """The model replied with this turn."""
        self._expect(State.ASKING)
        self.count(turn)
        self.carried |= turn.carried
        match self.decide(turn):
            case Decision.ANSWER:
                action = self.stop(turn)
                if isinstance(action, Finish):
                    self.append_answer(turn)
                return self._enter(action)
            case Decision.FAIL:
                return self._enter(Fail(_truncated(turn), TurnCut.reason))
            case Decision.RESUME:
                self.append_turn(turn)
                return self._enter(self.ask())
            case Decision.RUN:
                self.append_turn(turn)
                return self._enter(self._open(self.calls_of(turn)))

    def tools_ended(self, ends: Sequence[End]) -> Action:
        """The tools of the batch have ended; one end for each, in their order."""
        self._expect(State.RUNNING)
        runs = sum(isinstance(step, Run) for _, step in self._batch)
        if len(ends) != runs:
            raise OutOfTurn(f"{len(ends)} ends were reported for {runs} tools")
        return self._enter(self._keep(self._done(ends)) or self._next())

    def decided(self, decisions: Mapping[str, Approval]) -> Action:
        """Someone has decided: a decision for each call that waits, by its id.

        Raises:
            OutOfTurn: there is none for one of them.
        """
        self._expect(State.DECIDING)
        self._decide(decisions)
        return self._enter(self._next())

    def suspend(self) -> Action:
        """Nobody decides now: the run ends, and its state, as JSON, is what `resume` needs."""
        self._expect(State.DECIDING)
        said = Conversation(tuple(self.history), self.carried, self.conversation.instructions)
        calls, usage, ends = tuple(self._calls), tuple(self.usage), tuple(self.round_ends)
        state = Suspension(said, ends, self.model_calls, usage, calls, self._results)
        return self._enter(Suspend(self._pending(), state.to_json()))

    def resume(self, state: Json, decisions: Mapping[str, Approval]) -> None:
        """Be the suspended run with this state, before the start; see `decided`."""
        self._expect(State.IDLE)
        kept = Suspension.from_json(state)
        self.agent = self.agent_for(self.agent, kept.conversation, self.agent.messages, self.agent.inputs)
        self.history, self.carried = list(kept.conversation.history), dict(kept.conversation.carried)
        self.round_ends, self.model_calls, self.usage = list(kept.round_ends), kept.model_calls, list(kept.usage)
        self._calls, self._results = kept.calls, dict(kept.results)
        self._asked = names_of(self._calls, self._unanswered())
        self._decide(decisions)

    def cancel(self, ends: Sequence[End | None] = ()) -> Action:
        """The caller cancelled the run. For a batch of tools: the end of each, in their order, or None if it has none.

        A tool that has ended has its result in the conversation.
        """
        if self._state is State.ENDED:
            raise OutOfTurn("the loop has ended; there is nothing to cancel")
        if self._state is State.RUNNING:
            self._keep([(place, step) for place, step in self._done(ends) if not isinstance(step, Run)])
        return self._enter(Fail(Cancelled("the run was cancelled by its caller"), Cancelled.reason))

    @property
    def answer(self) -> Answer:
        """The caller's answer.

        Raises:
            Suspended: the run waits for decisions.
            OutOfTurn: the loop has no answer.
        """
        if isinstance(self.end, Suspend):
            names = ", ".join(call.name for call in self.end.calls)
            raise Suspended(f"the run has no answer yet: it is suspended until someone decides about {names}")
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

    def forwards(self, delta: Delta) -> bool:
        """Whether text is forwarded when it arrives: always, unless the dialect withholds the text of tool turns."""
        return not (delta.calling and self.dialect.holds_back_tool_turns)

    def count(self, turn: Turn) -> None:
        """Keep what the reply has reported, if it has: its counts are of this reply alone."""
        if turn.usage is not None:
            self.usage.append(turn.usage)

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

    def stop(self, turn: Turn) -> Action:
        """End with the turn's output, or its text, which may be empty, or announce calls that the turn has not."""
        if self.agent.output is not None:
            return self.give(turn, self.agent.output)
        stop = Stop.END if turn.stop in {Stop.CALLS, Stop.PAUSE} else turn.stop
        return Finish(Answer(turn.text, stop, tuple(self.usage), turn.calls))

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        """Of several agents, which share a registry, each runs the tools that it has offered."""
        return None if self.team and call.name not in self.tools else super().handler_of_name(call)

    # -- the machine --------------------------------------------------------------------------------------------------

    def _expect(self, state: State) -> None:
        if self._state is not state:
            raise OutOfTurn(f"the loop is {self._state.name}; this can be reported only while it is {state.name}")

    def _enter(self, action: Action) -> Action:
        self._state = STATE_AFTER[type(action)]
        if isinstance(action, Finish | Suspend | Fail):
            self.end = action
        return action


def _truncated(turn: Turn) -> TurnCut:
    by = {Stop.LENGTH: "the token limit, so allow it more tokens", Stop.CONTENT_FILTER: "the provider's content filter"}
    names = ", ".join(call.name for call in turn.calls)
    return TurnCut(f"nothing was run: a turn that called {names} was truncated ({turn.stop}) by {by[turn.stop]}")
