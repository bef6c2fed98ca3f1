"""Agents as tools of another: its words or tools come to them, their answers get lost, or nothing stops them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT, CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference import Agent, Loop, ProviderError, Runner, Tool, ToolResult
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.team import Team
from looptck_reference.prompty.invoke import Invocation
from looptck_reference.vocabulary.errors import LimitReached
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall

WITHOUT = "an agent that is not offered cannot be called"


@breaks("subagent-is-offered", collateral={"two-subagents-stay-apart": WITHOUT})
class OneSubagent(Team):
    """Offers one sub-agent to each agent."""

    def tools(self, member: Json) -> Sequence[Tool]:
        return super().tools({**member, "subagents": member["subagents"][:1]})


@breaks("subagent-answer-is-the-result", collateral={"two-subagents-stay-apart": "no answer is the result of its call"})
class DoneIsTheResult(Team):
    """Says only that a sub-agent is done."""

    def told(self, loop: Loop) -> str:
        return f"{loop.agent.name} is done."


@breaks("subagent-answer-is-the-result", cells=CHAT)
class FirstWordsAreTheResult(Team):
    """Takes the first words of a sub-agent for its answer, also those beside a call."""

    def told(self, loop: Loop) -> str:
        said = [str(item.get("content") or "") for item in loop.history if item.get("role") == "assistant"]
        return next((text for text in said if text), super().told(loop))


@breaks("subagent-gets-its-instructions-and-task")
class QuestionForAll(Team):
    """Asks a sub-agent what the user has asked."""

    def asked(self, tool: Tool, arguments: Json) -> Invocation:
        return super().asked(tool, {"request": self.case["messages"][-1]["content"]})


@breaks("subagent-gets-its-instructions-and-task")
class NoInstructions(Team):
    """Asks a sub-agent without its instructions."""

    def asked(self, tool: Tool, arguments: Json) -> Invocation:
        begun = super().asked(tool, arguments)
        begun.loop.agent = replace(begun.loop.agent, instructions="")
        return begun


@breaks(
    "tools-of-agents-stay-apart",
    collateral={"tool-of-another-agent-does-not-run": "what is offered runs"},
)
class ToolsFromBelow(Team):
    """Offers an agent the tools of its sub-agents too."""

    def tools(self, member: Json) -> Sequence[Tool]:
        below = [self.own[name] for one in member["subagents"] for name in self.members[one]["tools"]]
        return [*super().tools(member), *below]


@breaks("tool-of-another-agent-does-not-run")
class RunsToolsOfAll(Loop):
    """Runs a tool that only another agent has."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return self.registry.get_tool(self.own_name(call))


@breaks("subagent-conversation-stays-apart")
class AnswersAreSaid(Loop):
    """Writes the answer of a sub-agent down as words of the conversation too."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        said = [one.text for one in results if one.name in self.tools and self.tools[one.name].kind == "subagent"]
        self.history += self.wire.opening([{"role": "user", "content": text} for text in said])


@breaks("agent-goes-on-after-its-subagent")
class AnswersEndTheHistory(Loop):
    """Goes on with the answer of a sub-agent alone: what was there before its call is gone."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if any(one.name in self.tools and self.tools[one.name].kind == "subagent" for one in results):
            del self.history[1 : self.round_ends[-1]]


@breaks("cut-subagent-answer-is-told")
class CutAnswersAreWhole(Team):
    """Says nothing of an answer that was cut."""

    def told(self, loop: Loop) -> str:
        return loop.answer.text


@breaks("subagent-gets-no-earlier-calls")
class SubagentsKnowEarlierRounds(Team):
    """Gives a sub-agent the earlier rounds of the first agent too."""

    def asked(self, tool: Tool, arguments: Json) -> Invocation:
        begun = super().asked(tool, arguments)
        begun.loop.history[:0] = self.first.history[self.first.round_ends[0] : self.first.round_ends[-1]]
        return begun


@breaks("usage-includes-subagents")
class SubagentsAreFree(Team):
    """Counts nothing of what sub-agents use."""

    def count(self, loop: Loop) -> None:
        pass


@breaks("two-subagents-stay-apart")
class LastAnswerForAll(Loop):
    """Gives each call of a sub-agent the answer of the last one."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        below = [one for one in results if one.name in self.tools and self.tools[one.name].kind == "subagent"]
        super().append_results([replace(one, text=below[-1].text) if one in below else one for one in results])


@breaks("failed-subagent-is-told")
class FailureIsNothing(Team):
    """Takes the failure of a sub-agent for an empty answer."""

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        try:
            return super().consult(tool, arguments, agent, inputs)
        except ProviderError:
            return ""


@breaks("failed-subagent-is-told")
class LimitIsNothing(Team):
    """Takes a sub-agent that was stopped at its limit for one with an empty answer."""

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        try:
            return super().consult(tool, arguments, agent, inputs)
        except LimitReached:
            return ""


@breaks("failed-subagent-is-told")
class LimitIsDone(Team):
    """Says that a sub-agent is done that was stopped at its limit."""

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        try:
            return super().consult(tool, arguments, agent, inputs)
        except LimitReached:
            return "Done."


@breaks("endless-subagent-ends")
class SubagentsWithoutLimit(Team):
    """Lets sub-agents go on for ever."""

    def asked(self, tool: Tool, arguments: Json) -> Invocation:
        begun = super().asked(tool, arguments)
        begun.loop.limit = 10**6
        return begun


@breaks(
    "cancelled-run-cancels-its-subagents",
    collateral={
        "nothing-runs-after-the-end": "the sub-agent goes on after the end",
        "usage-includes-subagents": "nothing counts what runs apart",
    },
)
class SubagentsGoOn(Team):
    """Runs sub-agents over connections of their own, which a cancelled run does not close."""

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        begun = self.asked(tool, arguments)
        with Runner(**self.invoker.runner_options(begun)) as runner:
            return runner.drive(begun.loop, stream=begun.stream).text


class Heard(Team):
    """Hands the text of sub-agents to the caller of the run."""

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        begun = self.asked(tool, arguments)
        with self.invoker.runner(begun) as runner:
            return runner.drive(begun.loop, stream=begun.stream, on_text=self.case["emit"]).text


@breaks(
    "subagent-text-is-not-the-answer",
    collateral={"usage-includes-subagents": "nothing counts what runs apart"},
    cells=CHAT_STREAM,
)
class SubagentsAreHeard(Driver):
    """Streams what sub-agents say as if it were the answer."""

    team = Heard

    def run(self, case: Json, emit: OnText) -> Json:
        return super().run({**case, "emit": emit}, emit)
