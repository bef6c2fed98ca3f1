"""The agents of a case: each with its own instructions and tools, and with tools by which it calls on the others.

A tool of the kind `handoff` changes the agent of the loop (`Rounds.hand_over`). One of the kind `subagent` runs an
agent as a loop of its own, whose answer is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.registry import KindHandler, Registry
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

if TYPE_CHECKING:
    from looptck_reference.prompty.models import Service

__all__ = ["Team"]

NOTHING: Json = {"type": "object", "properties": {}}
REQUEST: Json = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "What the agent is to do."}},
    "required": ["request"],
}


class Team:
    """The agents of one run. The first one begins, and the limit of each loop is that of the case."""

    first: Loop
    """The loop of the first agent, once it has begun."""

    def __init__(
        self,
        case: Json,
        invoker: Invoker,
        service: Service,
        functions: Mapping[str, Callable[..., Any]],
        tool: Callable[[Json], Tool],
    ) -> None:
        self.case = case
        self.invoker = invoker
        self.service = service
        self.members: Mapping[str, Json] = {member["name"]: member for member in case["agents"]}
        self.own = {one["name"]: tool(one) for one in case["tools"]}
        self.agents = {name: self.agent(member) for name, member in self.members.items()}
        self.registry: Registry = invoker.registry.for_run(functions, self.kinds())

    def agent(self, member: Json) -> Agent:
        """An agent with its tools, and with those by which it calls on others."""
        return Agent(
            model=self.case["model"],
            messages=self.case["messages"],
            tools=self.tools(member),
            name=member["name"],
            instructions=member["instructions"],
        )

    def tools(self, member: Json) -> Sequence[Tool]:
        """The tools of an agent: its own, those that hand over, and those that are agents."""
        own = [self.own[name] for name in member["tools"]]
        over = [self.on(name, "handoff", f"transfer_to_{name}", NOTHING) for name in member["handoffs"]]
        below = [self.on(name, "subagent", f"ask_{name}", REQUEST) for name in member["subagents"]]
        return [*own, *over, *below]

    def on(self, name: str, kind: str, called: str, parameters: Json) -> Tool:
        """The tool of this kind by which an agent is called on."""
        about = self.members[name]["description"]
        return Tool(called, about, parameters, kind=kind, options={"agent": name})

    def kinds(self) -> Mapping[str, KindHandler]:
        """The handlers of both kinds of tools."""
        waits = self.case["mode"] == "async"
        return {"handoff": self.handed, "subagent": self.consult_async if waits else self.consult}

    def begin(self, before: Conversation | None) -> Invocation:
        """The run of the first agent."""
        begun = self.loop(self.case["agents"][0]["name"], self.case["messages"], before)
        self.first = begun.loop
        return begun

    def loop(self, name: str, messages: Sequence[Json], before: Conversation | None = None) -> Invocation:
        """A loop that begins with an agent and these messages."""
        loop = self.invoker.loop(
            self.agents[name],
            wire=self.service.wire,
            dialect=self.invoker.dialect,
            limit=self.case["options"].get("limit"),
            registry=self.registry,
            conversation=before,
            messages=messages,
            team=self.agents,
        )
        return Invocation(loop, self.service, self.case["stream"])

    def handed(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        """The result of a call that hands over; of several in a turn the first one counts."""
        return f"The conversation goes on with {tool.options['agent']}, if no earlier call of this turn hands it over."

    def asked(self, tool: Tool, arguments: Json) -> Invocation:
        """The loop of a sub-agent: a new conversation, with what it is asked."""
        said = [{"role": "user", "content": str(arguments.get("request", ""))}]
        return self.loop(tool.options["agent"], said)

    def consult(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        """Run a sub-agent; its answer is the result of the call."""
        begun = self.asked(tool, arguments)
        try:
            with self.invoker.runner(begun) as runner:
                runner.drive(begun.loop, stream=begun.stream)
        finally:
            self.count(begun.loop)
        return self.told(begun.loop)

    async def consult_async(self, tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> str:
        """The same for async callers."""
        begun = self.asked(tool, arguments)
        try:
            async with self.invoker.async_runner(begun) as runner:
                await runner.drive(begun.loop, stream=begun.stream)
        finally:
            self.count(begun.loop)
        return self.told(begun.loop)

    def count(self, loop: Loop) -> None:
        """What a sub-agent has used belongs to the run."""
        self.first.usage.extend(loop.usage)

    def told(self, loop: Loop) -> str:
        """What the agent that called gets of the loop of a sub-agent."""
        if loop.answer.stop.truncated:
            return f"{loop.answer.text}\n\n(This answer of {loop.agent.name} was cut short: {loop.answer.stop}.)"
        return loop.answer.text
