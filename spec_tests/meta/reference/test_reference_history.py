"""Random histories: whatever the model and the tools do, what is sent is legal."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from looptck_reference import CORE, Agent, Ask, Fail, Finish, Loop, Stop, Tool, ToolCall
from looptck_reference.vocabulary.actions import Raised, Returned, RunTools
from meta.reference.reference_wires import MESSAGES, SIDES, Side

if TYPE_CHECKING:
    from looptck_reference.vocabulary.actions import Action
    from looptck_reference.vocabulary.values import Json

CALL = st.builds(
    ToolCall,
    id=st.text("ab", min_size=1, max_size=2),
    name=st.sampled_from(["ping", "pong", "orphan", "nope"]),
    arguments=st.sampled_from(["", "{}", '{"n": 1}', '{ "n":1 }', "{", "[]", '{"n": "\\u00e9"}']),
)
CALLS = st.lists(CALL, max_size=4)
TEXTS = st.sampled_from(["", "I look."])
LIMITS = st.none() | st.integers(0, 5)
OPENINGS = st.lists(st.just("user"), max_size=3)
KEPT = st.none() | st.integers(0, 3)
VALUES = st.none() | st.text(max_size=3) | st.dictionaries(st.text(max_size=2), st.integers(), max_size=2)
ERRORS = st.sampled_from([KeyError("city"), ValueError(), OSError(2, "gone")])
ENDS = st.lists(st.builds(Returned, VALUES) | st.builds(Raised, ERRORS), min_size=5, max_size=5)


class Histories(RuleBasedStateMachine):
    """Plays model and tools at random, and checks each question that the loop asks."""

    action: Action | None = None

    @initialize(side=st.sampled_from(SIDES), limit=LIMITS, opening=OPENINGS, keep=KEPT, parallel=st.booleans())
    def begin(self, side: Side, limit: int | None, opening: list[str], keep: int | None, *, parallel: bool) -> None:
        """Start a run."""
        self.side = side
        self.messages = [{"role": role, "content": "x"} for role in opening]
        self.before = copy.deepcopy(self.messages)
        tools = [Tool("ping", handler=dict), Tool("pong", handler=dict), Tool("orphan")]
        dialect = replace(CORE, parallel=parallel)
        self.keep, self.ends = keep, [0]
        self.loop = Loop(
            Agent("m", self.messages, tools), wire=side.wire, dialect=dialect, limit=limit, keep_rounds=keep
        )
        self.limit = 10 if limit is None else limit
        self.asked = 0
        self.said: list[Any] = []
        self.may_run = False
        self.take(self.loop.start())

    @precondition(lambda self: isinstance(self.action, Finish | Fail))
    @rule(side=st.sampled_from(SIDES), limit=LIMITS, opening=OPENINGS, keep=KEPT, parallel=st.booleans())
    def begin_again(
        self, side: Side, limit: int | None, opening: list[str], keep: int | None, *, parallel: bool
    ) -> None:
        """Start another run when one has ended."""
        self.begin(side, limit, opening, keep, parallel=parallel)

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule(text=TEXTS, calls=CALLS, stop=st.sampled_from(Stop))
    def the_model_answers(self, text: str, calls: list[ToolCall], stop: Stop) -> None:
        """With text, calls, both or neither, and any stop that the wire has."""
        if stop not in self.side.stops:
            stop = Stop.CALLS
        self.may_run = bool(calls) and (stop is Stop.CALLS or (stop is Stop.END and self.side is not MESSAGES))
        if self.may_run or (stop is Stop.PAUSE and (text or calls)):
            self.said.append((text, [(call.id, call.name, self.side.echoed_arguments(call)) for call in calls]))
        if self.may_run:
            self.said.append([call.id for call in calls])
            self.ends.append(len(self.said))
        turn = self.side.turn_of(*self.side.events(text, *calls, stop=stop))
        self.take(self.loop.model_answered(turn))

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule(text=TEXTS, calls=CALLS, call=CALL)
    def the_model_calls_on(self, text: str, calls: list[ToolCall], call: ToolCall) -> None:
        """As models do that do not come to an end."""
        self.the_model_answers(text, [*calls, call], Stop.CALLS)

    @precondition(lambda self: isinstance(self.action, RunTools))
    @rule(ends=ENDS)
    def the_tools_end(self, ends: list[Returned | Raised]) -> None:
        """Each in its own way."""
        assert isinstance(self.action, RunTools)
        self.take(self.loop.tools_ended(ends[: len(self.action.runs)]))

    def take(self, action: Action) -> None:
        """Look at what the loop says."""
        self.action = action
        if isinstance(action, Ask):
            self.asked += 1
            self.history_is_legal(list(action.history))
        if isinstance(action, RunTools):
            assert self.may_run
            assert self.loop.dialect.parallel or len(action.runs) == 1

    def history_is_legal(self, history: list[Json]) -> None:
        """Each turn is echoed and each of its calls is answered once, in order, with its own id, right behind it.

        Where rounds are pruned, the prompt stays, and what stays of the rounds is the end, whole.
        """
        opening = len(self.before)
        assert self.before == history[:opening]
        pruned = 0 if self.keep is None else self.ends[max(0, len(self.ends) - 1 - self.keep)]
        assert self.said[pruned:] == self.side.read(history[opening:])

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
