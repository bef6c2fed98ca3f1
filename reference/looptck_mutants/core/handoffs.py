"""Agents that hand over: the words, the tools or the calls of one are lost on the way, or nothing stops them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference import Action, Agent, Decision, Loop, Tool, ToolResult, Turn
from looptck_reference.kit.team import Team
from looptck_reference.vocabulary.actions import Fail
from looptck_reference.vocabulary.dialects import Policy
from looptck_reference.vocabulary.errors import Reason
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Delta, Json, ToolCall

REFUSED = "a call without a result"
WITHOUT = "an agent that is not offered cannot be called"


def _is_over(loop: Loop, name: str) -> bool:
    """Whether a call of this name hands over."""
    tool = loop.tools.get(name)
    return tool is not None and tool.kind == "handoff"


@breaks("handoff-is-offered", collateral={"two-handoffs-leave-no-orphan": WITHOUT})
class OneHandoff(Team):
    """Offers one handoff to each agent."""

    def tools(self, member: Json) -> Sequence[Tool]:
        return super().tools({**member, "handoffs": member["handoffs"][:1]})


@breaks(
    "handoff-is-answered",
    collateral={
        (
            "handoff-changes-the-agent",
            "handoff-changes-the-tools",
            "target-of-a-handoff-answers",
            "two-handoffs-leave-no-orphan",
            "call-beside-a-handoff-is-not-lost",
            "turn-after-a-handoff-is-accepted",
            "no-request-is-refused",
        ): REFUSED
    },
)
class HandoffUnanswered(Loop):
    """Takes a handoff for an event of its own, which has no result."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([one for one in results if not _is_over(self, one.name)])


@breaks("question-comes-once-after-a-handoff")
class QuestionAskedAgain(Loop):
    """Repeats the user's question for the agent that takes over."""

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        asked = [one for one in self.history if one.get("role") == "user" and isinstance(one.get("content"), str)]
        self.history = [*self.history, *asked[-1:]]


@breaks(
    "handoff-changes-the-agent",
    collateral={("target-of-a-handoff-answers", "handoff-changes-the-tools"): "the first agent goes on"},
)
class InstructionsStay(Loop):
    """Keeps the instructions of the first agent."""

    def take_over(self, agent: Agent) -> None:
        super().take_over(replace(agent, instructions=self.agent.instructions))


@breaks("handoff-changes-the-tools")
class ToolsOfTheFirstAgentRun(Loop):
    """Runs the tools of the first agent alone, whoever has taken over."""

    def take_over(self, agent: Agent) -> None:
        self.__dict__.setdefault("first", self.tools)
        super().take_over(agent)

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return super().handler_of_name(call) if call.name in self.__dict__.get("first", self.tools) else None


@breaks(
    "handoff-changes-the-tools",
    collateral={"tool-of-another-agent-does-not-run": "the agent that took over was offered it"},
)
class ToolsAddUp(Loop):
    """Offers the tools of all agents that have spoken."""

    def take_over(self, agent: Agent) -> None:
        names = {tool.name for tool in agent.tools}
        super().take_over(
            replace(agent, tools=[*agent.tools, *(one for one in self.agent.tools if one.name not in names)])
        )


@breaks(
    "question-survives-a-handoff",
    collateral={"turn-after-a-handoff-is-accepted": "the question is in no later request"},
)
class QuestionStaysBehind(Loop):
    """Hands over what the agents have said, and not what the user has."""

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        self.history = [message for message in self.history if message.get("role") != "user"]


@breaks("target-of-a-handoff-answers")
class AnswerOfTheFirst(Loop):
    """Returns what the agent had said that handed over."""

    said = ""
    handed = False

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.said = turn.text

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        self.handed = True

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=self.said) if self.handed else turn)


@breaks(
    "two-handoffs-leave-no-orphan",
    collateral={
        "no-request-is-refused": REFUSED,
        "call-beside-a-handoff-is-not-lost": "the same handoff, called twice, has one result",
    },
)
class SecondHandoffUnanswered(Loop):
    """Leaves a second handoff of the turn without a result."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        over = [one for one in results if _is_over(self, one.name)]
        super().append_results([one for one in results if one not in over[1:]])


@breaks("call-beside-a-handoff-is-not-lost")
class HandoffAlone(Loop):
    """Forgets the calls beside a handoff."""

    def model_answered(self, turn: Turn) -> Action:
        over = tuple(call for call in turn.calls if _is_over(self, call.name))
        return super().model_answered(replace(turn, calls=over) if over else turn)


@breaks("call-beside-a-handoff-is-not-lost")
class LaterCallUndoesIt(Loop):
    """Forgets a handoff when a later call of the turn is none."""

    def hand_over(self, results: Sequence[ToolResult]) -> None:
        super().hand_over(results if results and _is_over(self, results[-1].name) else [])


@breaks("call-beside-a-handoff-is-not-lost")
class TwoHandoffsUndoEachOther(Loop):
    """Forgets the handoffs of a turn that has several."""

    def hand_over(self, results: Sequence[ToolResult]) -> None:
        several = sum(_is_over(self, one.name) for one in results) > 1
        super().hand_over([] if several else results)


@breaks("unknown-agent-is-told")
class HandedToNobody(Loop):
    """Ends the run at a handoff to an agent that there is not."""

    def decide(self, turn: Turn) -> Decision:
        lost = any(call.name.startswith("transfer_to_") and not _is_over(self, call.name) for call in turn.calls)
        return Decision.ANSWER if lost and self.team else super().decide(turn)


@breaks("unknown-agent-is-told")
class HandedToAnybody(Loop):
    """Says of a handoff to an agent that there is not that the conversation goes on with it."""

    def fault(self, policy: Policy, call: ToolCall, error: Exception, reason: Reason) -> ToolResult | Fail:
        result = super().fault(policy, call, error, reason)
        lost = call.name.startswith("transfer_to_") and call.name not in self.tools
        if isinstance(result, Fail) or not lost:
            return result
        return replace(result, text="The conversation goes on.", failed=False)


@breaks("endless-handoffs-end", collateral={"limit-counts-all-agents": "a count that begins anew counts nothing"})
class CountsAnew(Loop):
    """Counts the model calls since the last handoff."""

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        self.model_calls = 0


@breaks("limit-counts-all-agents")
class CountsEach(Loop):
    """Counts the model calls of each agent."""

    counts: Mapping[str, int] = {}

    def take_over(self, agent: Agent) -> None:
        self.counts = {**self.counts, self.agent.name: self.model_calls}
        super().take_over(agent)
        self.model_calls = self.counts.get(agent.name, 0)


@breaks("turn-after-a-handoff-is-accepted", collateral={"no-request-is-refused": REFUSED})
class KeepsCallsAlone(Loop):
    """Keeps of a conversation in which an agent has handed over the calls, and not their results."""

    handed = False

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        self.handed = True

    def settled(self) -> list[Json]:
        kept = super().settled()
        return [message for message in kept if message.get("role") != "tool"] if self.handed else kept


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM)
class OnlyTheFirstIsHeard(Loop):
    """Hands none of the text to the caller that an agent writes after a handoff."""

    handed = False

    def take_over(self, agent: Agent) -> None:
        super().take_over(agent)
        self.handed = True

    def forwards(self, delta: Delta) -> bool:
        return not self.handed and super().forwards(delta)
