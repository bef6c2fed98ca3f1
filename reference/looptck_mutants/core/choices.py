"""Choices of the caller that the service never hears of, hears wrongly, or hears too often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference import Action, Agent, ChatWire, Loop, MessagesWire, ResponsesWire, ToolCall, ToolResult, Turn
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.choice import Choice
from looptck_reference.vocabulary.values import Json

LOST = "a choice that does not come forces nothing"


@breaks("choice-reaches-the-service")
class NoneIsNothing(ChatWire):
    """Says nothing where the caller lets the model call no tool."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if (name, value) != ("tool_choice", "none")}


@breaks("forbidden-calls-stay-forbidden")
class NoneIsForOneRequest(ChatWire):
    """Forbids calls in the first request only."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if body.get("tool_choice") == "none" and history[-1]["role"] == "tool":
            del body["tool_choice"]
        return body


@breaks(
    "choice-reaches-the-service",
    collateral={("forced-choice-ends", "forced-choice-is-for-one-round"): LOST},
    cells=RESPONSES,
)
class RequiredIsNothing(ResponsesWire):
    """Says nothing where the caller lets the model choose the tool that it has to call."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if (name, value) != ("tool_choice", "required")}


@breaks("choice-reaches-the-service", cells=MESSAGES)
class NameIsAnyTool(MessagesWire):
    """Forces any call where the caller names a tool."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        choice = body.get("tool_choice", {})
        return {**body, "tool_choice": {**choice, "type": "any"}} if "name" in choice else body


@breaks(
    "choice-reaches-the-service",
    collateral={
        ("forced-choice-ends", "forced-choice-is-for-one-round"): LOST,
        "no-request-is-refused": "the form of Responses is none of Chat Completions",
    },
)
class NameWithoutItsLevel(ChatWire):
    """Names a tool in the form of Responses."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        choice = body.get("tool_choice")
        flat = isinstance(choice, dict) and {"type": "function", **choice["function"]}
        return {**body, "tool_choice": flat} if flat else body


@breaks("choice-reaches-the-service", cells=MESSAGES)
class SingleReplacesTheChoice(MessagesWire):
    """Forbids several calls with a choice of its own, whatever the caller has chosen."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        free = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
        return body | free if agent.choice.single and body.get("tools") else body


@breaks("single-calls-reach-the-service", cells=MESSAGES)
class ChoiceReplacesTheSingle(MessagesWire):
    """Forbids several calls only where the caller has no choice."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        choice = body.get("tool_choice", {"type": "auto"})
        return (
            body if choice["type"] == "auto" else {**body, "tool_choice": {**choice, "disable_parallel_tool_use": None}}
        )


@breaks("single-calls-reach-the-service")
class SingleOnce(ChatWire):
    """Forbids several calls in the first request only."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        if any(message["role"] == "tool" for message in history):
            body.pop("parallel_tool_calls", None)
        return body


@breaks(
    "calls-beyond-a-forbidden-parallel-are-answered",
    collateral={"no-request-is-refused": "a call without a result"},
)
class FirstCallWhereOneIsAllowed(Loop):
    """Takes the first call of a turn where the caller has forbidden several."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return super().calls_of(turn)[: 1 if self.agent.choice.single else None]


@breaks("no-tool-options-without-tools", collateral={"no-request-is-refused": "the service takes it only with tools"})
class SingleWithoutTools(ChatWire):
    """Forbids several calls where no call is possible."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return body | ({"parallel_tool_calls": False} if agent.choice.single else {})


@breaks("forced-choice-is-for-one-round")
class ForcedAgain(Loop):
    """Sends a choice that forces a call in each request, until the limit is reached."""

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        agent = self.agent
        action = super().close_round(results)
        self.agent = agent
        return action


@breaks("forced-choice-is-for-one-round")
class ForcedUntilItWorks(Loop):
    """Sends a choice that forces a call once more behind a round in which a call has failed."""

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        agent = self.agent
        action = super().close_round(results)
        if any(one.failed for one in results):
            self.agent = agent
        return action


@breaks("forced-choice-is-for-one-round")
class ChosenForTheConversation(Driver):
    """Keeps the choice of a conversation's first run for all its runs."""

    def __init__(self) -> None:
        super().__init__()
        self._choices: dict[str, Choice] = {}

    def agent_of(self, case: Json) -> Agent:
        agent = super().agent_of(case)
        if "conversation" not in case:
            return agent
        return replace(agent, choice=self._choices.setdefault(case["conversation"], agent.choice))


@breaks("choice-reaches-the-service")
class ChosenOnce(Driver):
    """Forgets the choice of an agent object, or of a conversation, with its first run."""

    def __init__(self) -> None:
        super().__init__()
        self._begun: set[str] = set()

    def agent_of(self, case: Json) -> Agent:
        agent = super().agent_of(case)
        id = case.get("shared") or case.get("conversation")
        if id in self._begun:
            return replace(agent, choice=Choice())
        self._begun |= {id} if id else set()
        return agent


@breaks("forced-choice-ends", collateral={"forced-choice-is-for-one-round": "the choice is sent again and again"})
class ForcedWithoutLimit(ForcedAgain):
    """Counts no round that was forced against the limit."""

    forced = False

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        self.forced = self.agent.choice is not self.agent.choice.after_a_round
        return super().close_round(results)

    def limit_reached(self) -> bool:
        return super().limit_reached() and not self.forced
