"""Random conversations: however a run ends, the next question is legal, and nothing is lost or said twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from looptck_reference import CORE, PROMPTY_SPEC, Agent, Ask, Fail, Finish, Loop, Stop, Tool, ToolCall
from looptck_reference.loop.conversation import Conversation
from looptck_reference.vocabulary.actions import Decide, Raised, Returned, RunTools, Suspend
from looptck_reference.vocabulary.approval import Approve, Change, Reject
from meta.reference.reference_talks import is_legal, talk
from meta.reference.reference_wires import SIDES, Side

if TYPE_CHECKING:
    from looptck_reference.vocabulary.actions import Action
    from looptck_reference.vocabulary.approval import Decision

NAMES = st.lists(st.sampled_from(["ping", "careful", "orphan", "nope"]), max_size=4)
TOOLS = [Tool("ping", handler=dict), Tool("careful", handler=dict, approval=True), Tool("orphan")]
DECISIONS = st.sampled_from([Approve(), Change({"n": 2}), Reject("too late")])


class Conversations(RuleBasedStateMachine):
    """Plays user, model, tools and the person who decides, at random, in one conversation."""

    action: Action | None = None

    @initialize(side=st.sampled_from(SIDES), parallel=st.booleans(), raises=st.booleans())
    def begin(self, side: Side, *, parallel: bool, raises: bool) -> None:
        """Ask the first question."""
        self.side = side
        self.agent = Agent("m", [], TOOLS)
        self.dialect = replace(PROMPTY_SPEC if raises else CORE, parallel=parallel)
        self.conversation = Conversation()
        self.count = 0
        self.questions: list[str] = []
        self.answers: list[str] = []
        self.obtained: list[str] = []
        self.asks()

    def new(self) -> str:
        """A text that was not said before."""
        self.count += 1
        return f"n{self.count}n"

    def asks(self) -> None:
        """Go on with the conversation, which may have been stored in between."""
        question = self.new()
        self.questions.append(question)
        before = Conversation.from_json(json.loads(json.dumps(self.conversation.to_json())))
        messages = [{"role": "user", "content": question}]
        self.loop = self.loop_with(conversation=before, messages=messages)
        self.take(self.loop.start())

    def loop_with(self, **more: object) -> Loop:
        """A loop of this agent."""
        return Loop(self.agent, wire=self.side.wire, dialect=self.dialect, limit=3, **more)  # type: ignore[arg-type]

    @precondition(lambda self: isinstance(self.action, Finish | Fail | Suspend))
    @rule()
    def the_user_asks_on(self) -> None:
        """A further question, whatever has become of the last one."""
        self.conversation = self.loop.conversation
        self.asks()

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule(speaks=st.booleans(), names=NAMES, stop=st.sampled_from(Stop))
    def the_model_answers(self, speaks: bool, names: list[str], stop: Stop) -> None:
        """With text, calls, both or neither, and any stop that the wire has."""
        if stop not in self.side.stops:
            stop = Stop.CALLS
        text = self.new() if speaks or stop is Stop.REFUSAL else ""
        calls = [] if stop is Stop.PAUSE else [ToolCall(self.new(), name, '{"n": 1}') for name in names]
        self.take(self.loop.model_answered(self.side.turn_of(*self.side.events(text, *calls, stop=stop))))
        if isinstance(self.action, Finish) and text and not (stop is Stop.REFUSAL and "anthropic" in self.side.name):
            self.answers.append(text)

    @precondition(lambda self: isinstance(self.action, RunTools))
    @rule(raised=st.lists(st.booleans(), min_size=4, max_size=4))
    def the_tools_end(self, raised: list[bool]) -> None:
        """Each in its own way."""
        assert isinstance(self.action, RunTools)
        self.take(self.loop.tools_ended([self.end(one) for _, one in zip(self.action.runs, raised, strict=False)]))

    def end(self, raises: bool) -> Returned | Raised:
        """The end of a tool that must not be lost."""
        text = self.new()
        self.obtained.append(text)
        return Raised(ValueError(text)) if raises else Returned(text)

    @precondition(lambda self: isinstance(self.action, Decide))
    @rule(decisions=st.lists(DECISIONS, min_size=4, max_size=4))
    def someone_decides(self, decisions: list[Decision]) -> None:
        """At once."""
        assert isinstance(self.action, Decide)
        made = {call.id: one for call, one in zip(self.action.calls, decisions, strict=False)}
        self.take(self.loop.decided(made))

    @precondition(lambda self: isinstance(self.action, Decide))
    @rule()
    def nobody_decides(self) -> None:
        """The run is suspended."""
        self.take(self.loop.suspend())

    @precondition(lambda self: isinstance(self.action, Suspend))
    @rule(decisions=st.lists(DECISIONS, min_size=4, max_size=4))
    def someone_decides_later(self, decisions: list[Decision]) -> None:
        """In another process."""
        assert isinstance(self.action, Suspend)
        made = {call.id: one for call, one in zip(self.action.calls, decisions, strict=False)}
        state = json.loads(json.dumps(self.action.state))
        self.loop = self.loop_with(messages=[])
        self.loop.resume(state, made)
        self.take(self.loop.start())

    @precondition(lambda self: self.action is not None and not isinstance(self.action, Finish | Fail | Suspend))
    @rule(ended=st.lists(st.booleans(), min_size=4, max_size=4))
    def the_user_cancels(self, ended: list[bool]) -> None:
        """While some of the tools have ended."""
        runs = self.action.runs if isinstance(self.action, RunTools) else ()
        ends = [self.end(raises=False) if one else None for _, one in zip(runs, ended, strict=False)]
        self.take(self.loop.cancel(ends))

    @precondition(lambda self: isinstance(self.action, Ask))
    @rule()
    def the_service_fails(self) -> None:
        """The loop hears nothing of it; its runner raises."""
        self.conversation = self.loop.conversation
        self.asks()

    def take(self, action: Action) -> None:
        """Look at what the loop says; what it sends is legal, and ends with what the model has to react to."""
        self.action = action
        if isinstance(action, Ask):
            said = talk(self.side.name, action.history)
            assert is_legal(said), said

    @invariant()
    def a_further_question_is_legal_at_any_time(self) -> None:
        """Each call is answered once, right behind its turn."""
        if self.action is not None:
            said = talk(self.side.name, self.loop.conversation.history)

            assert is_legal(said), said

    @invariant()
    def nothing_is_lost_or_said_twice(self) -> None:
        """All questions, all answers and all results are there, once."""
        if self.action is not None:
            whole = json.dumps(self.loop.conversation.history)

            for text in [*self.questions, *self.answers, *self.obtained]:
                assert 1 == whole.count(json.dumps(text)[1:-1]), text


TestConversations = Conversations.TestCase
