"""Random histories: whatever the model and the tools do, what is sent is legal."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from looptck_reference import CORE, OPENAI_CHAT, Agent, Ask, Fail, Finish, Loop, Run, Stop, Tool, ToolCall, Turn

if TYPE_CHECKING:
    from looptck_reference.actions import Action
    from looptck_reference.values import Json

CALLS = st.lists(
    st.builds(
        ToolCall,
        id=st.text("ab", min_size=1, max_size=2),
        name=st.sampled_from(["ping", "pong", "orphan", "nope"]),
        arguments=st.sampled_from(["", "{}", '{"n": 1}', '{ "n":1 }', "{", "[]", '{"n": "\\u00e9"}']),
    ),
    max_size=4,
).map(tuple)
TURNS = st.builds(Turn, text=st.sampled_from(["", "I look."]), calls=CALLS, stop=st.sampled_from(Stop))
LIMITS = st.none() | st.integers(0, 5)
OPENINGS = st.lists(st.sampled_from(["system", "user"]), max_size=3)


class Histories(RuleBasedStateMachine):
    """Plays model and tools at random, and checks each question that the loop asks."""

    action: Action | None = None

    @initialize(limit=LIMITS, opening=OPENINGS)
    def begin(self, limit: int | None, opening: list[str]) -> None:
        """Start a run."""
        self.messages = [{"role": role, "content": "x"} for role in opening]
        self.before = copy.deepcopy(self.messages)
        tools = [Tool("ping", handler=dict), Tool("pong", handler=dict), Tool("orphan")]
        self.loop = Loop(Agent("m", self.messages, tools), wire=OPENAI_CHAT, dialect=CORE, limit=limit)
        self.limit = 10 if limit is None else limit
        self.asked = 0
        self.turns: list[Turn] = []
        self.take(self.loop.start())

    @precondition(lambda self: isinstance(self.action, Finish | Fail))
    @rule(limit=LIMITS, opening=OPENINGS)
    def begin_again(self, limit: int | None, opening: list[str]) -> None:
        """Start another run when one has ended."""
        self.begin(limit, opening)

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule(turn=TURNS)
    def the_model_answers(self, turn: Turn) -> None:
        """With text, calls, both or neither."""
        if turn.calls and not turn.stop.cut and turn.stop is not Stop.REFUSAL:
            self.turns.append(turn)
        self.take(self.loop.model_answered(turn))

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule(turn=TURNS)
    def the_model_calls_on(self, turn: Turn) -> None:
        """As models do that do not come to an end."""
        self.the_model_answers(replace(turn, calls=turn.calls or (ToolCall("c", "ping", ""),), stop=Stop.CALLS))

    @precondition(lambda self: isinstance(self.action, Run))
    @rule(value=st.none() | st.text(max_size=3) | st.dictionaries(st.text(max_size=2), st.integers(), max_size=2))
    def the_tool_returns(self, value: object) -> None:
        """With some value."""
        self.take(self.loop.tool_returned(value))

    @precondition(lambda self: isinstance(self.action, Run))
    @rule(error=st.sampled_from([KeyError("city"), ValueError(), OSError(2, "gone")]))
    def the_tool_raises(self, error: Exception) -> None:
        """With some exception."""
        self.take(self.loop.tool_raised(error))

    def take(self, action: Action) -> None:
        """Look at what the loop says."""
        self.action = action
        if isinstance(action, Ask):
            self.asked += 1
            self.history_is_legal(list(action.history))
        if isinstance(action, Run):
            assert not self.turns[-1].stop.cut

    def history_is_legal(self, history: list[Json]) -> None:
        """Each turn is echoed and each of its calls is answered once, in order, with its own id, right behind it."""
        assert self.before == history[: len(self.before)]
        at = len(self.before)
        for turn in self.turns:
            echo, answers = history[at], history[at + 1 : at + 1 + len(turn.calls)]
            echoed = [
                (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in echo["tool_calls"]
            ]
            at += 1 + len(turn.calls)

            assert ("assistant", turn.text or None) == (echo["role"], echo["content"])
            assert [(call.id, call.name, call.arguments) for call in turn.calls] == echoed
            assert [("tool", call.id) for call in turn.calls] == [(one["role"], one["tool_call_id"]) for one in answers]
            assert all(isinstance(one["content"], str) for one in answers)
        assert len(history) == at

    @invariant()
    def the_limit_holds(self) -> None:
        """The model is asked no more often than allowed, and only a limit that is used up fails for it."""
        if self.action is None:
            return
        assert self.asked <= self.limit
        if isinstance(self.action, Fail) and self.action.reason == "limit":
            assert self.limit == self.asked

    @invariant()
    def the_callers_messages_are_the_callers(self) -> None:
        """What the caller passed in is never changed."""
        if self.action is not None:
            assert self.before == self.messages

    @invariant()
    def core_fails_for_limits_and_cuts_only(self) -> None:
        """No fault of a call ends a run in this dialect."""
        if isinstance(self.action, Fail):
            assert self.action.reason in {"limit", "truncated"}

    @invariant()
    def the_end_is_remembered(self) -> None:
        """The loop has an end exactly if it said so."""
        if self.action is not None:
            assert (self.action if isinstance(self.action, Finish | Fail) else None) is self.loop.end


TestHistories = Histories.TestCase
