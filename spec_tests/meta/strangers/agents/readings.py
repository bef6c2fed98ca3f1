"""Loops with several agents that are right in other ways than the first one."""

# ruff: noqa: D101
# mypy: disable-error-code="has-type, import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from team import Driver, Json, Team

TO_ANY: Json = {
    "type": "object",
    "properties": {"agent_name": {"type": "string"}, "message": {"type": "string"}, "context": {"type": "object"}},
    "required": ["agent_name", "message"],
}


class Transcript(Driver):
    """A right loop: the new agent gets the conversation as words in one message."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            lines = [f"{one['role']}: {one.get('content') or json.dumps(one.get('tool_calls'))}" for one in history]
            history[:] = [{"role": "user", "content": "The conversation so far:\n" + "\n".join(lines)}]


class AddedTeam(Team):
    def __init__(self, case: Any) -> None:
        super().__init__(case)
        self.been = [self.active]

    def hand_over(self, target: str, history: list[Json]) -> None:
        super().hand_over(target, history)
        self.been.append(target)

    def system(self, name: str) -> list[Json]:
        names = self.been if name == self.active else [name]
        return [message for one in names for message in super(AddedTeam, self).system(one)]


class Added(Driver):
    """A right loop: the system prompt of the new agent comes behind those of the agents before it."""

    team = AddedTeam

    def after(self, team: Team, history: list[Json]) -> tuple[str, list[Json]]:
        return self.first(team), history

    def first(self, team: Team) -> str:
        return team.case["agents"][0]["name"]


class OneToolTeam(Team):
    """One tool hands over to all."""

    def about(self, targets: list[str]) -> Json:
        known: Json = {**TO_ANY["properties"], "agent_name": {"type": "string", "enum": targets}}
        return {"name": "handoff", "description": "Hands over.", "parameters": {**TO_ANY, "properties": known}}

    def offers(self, name: str) -> list[Json]:
        member = self.members[name]
        own = [self.offer(self.tools[tool]) for tool in member["tools"]]
        over = [self.offer(self.about(member["handoffs"]))] if member["handoffs"] else []
        return [*over, *own, *map(self.asking, member["subagents"])]

    def target(self, call: Json) -> str | None:
        if call["function"]["name"] != "handoff":
            return None
        return json.loads(call["function"]["arguments"])["agent_name"]


class OneTool(Driver):
    """A right loop: one tool hands over, and its parameter has the names of the agents."""

    team = OneToolTeam


class Nameless(Driver):
    """A right loop: one tool hands over, and the names of the agents stand in the instructions."""

    class team(OneToolTeam):
        def about(self, targets: list[str]) -> Json:
            return {"name": "handoff", "description": "Hands over to another agent.", "parameters": TO_ANY}

        def system(self, name: str) -> list[Json]:
            others = ", ".join(self.members[name]["handoffs"])
            return [{"role": "system", "content": f"{self.members[name]['instructions']}\nOther agents: {others}"}]


class Coded(Driver):
    """A right loop: agents are called by a tool that says nothing of agents, as the driver declares."""

    class team(Team):
        """Agents have numbers for the model."""

        def transfer(self, target: str) -> Json:
            offered = super().transfer(target)
            offered["function"] |= {"name": f"switch_{target[::-1]}", "description": "Switches."}
            return offered

        def target(self, call: Json) -> str | None:
            name = call["function"]["name"]
            return name.removeprefix("switch_")[::-1] if name.startswith("switch_") else None

        def asking(self, target: str) -> Json:
            request: Json = {"type": "object", "properties": {"to": {"type": "string"}, "say": {"type": "string"}}}
            about = {"name": "consult", "description": "Consults a colleague.", "parameters": request}
            return self.offer(about)

        def offers(self, name: str) -> list[Json]:
            found = super().offers(name)
            return [one for at, one in enumerate(found) if one not in found[:at]]

        def called(self, call: Json) -> tuple[str, str] | None:
            if call["function"]["name"] != "consult":
                return None
            told = json.loads(call["function"]["arguments"])
            return told["to"], told["say"]

    able: ClassVar[Any] = {
        "subagents": True,
        "limit": True,
        "agent_tools": {"subagent": {"tool": "consult", "arguments": {"to": "{agent}", "say": "{input}"}}},
    }


class AsksOnceMore(Driver):
    """A right loop: an agent goes on behind its handoff until it calls nothing more, and then the other one begins."""

    class team(Team):
        later: str | None = None

        def hand_over(self, target: str, history: list[Json]) -> None:
            self.later = target

        def talk(self, history: list[Json]) -> str:
            text = super().talk(history)
            while self.later is not None:
                self.active, self.later = self.later, None
                text = super().talk(history)
            return text


class LastWins(Driver):
    """A right loop: calls run in their order, and of several handoffs the last one counts."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            speaker = self.active
            for call in calls:
                if (wanted := self.target(call)) in self.members[speaker]["handoffs"]:
                    self.active = str(wanted)
                    history.append(self.result(call, "Done."))
                else:
                    history.append(self.result(call, "No such agent." if wanted else self.ran(speaker, call)))


class RefusesTwo(Driver):
    """A right loop: a handoff has to be the only call of its turn, which the model is told."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            handed = [call for call in calls if self.target(call)]
            if len(calls) > 1 and handed:
                why = "Nothing was done: hand over to one agent, without other calls."
                history += [self.result(call, why) for call in calls]
                return
            super().round(history, calls)


class Raises(Driver):
    """A right loop: its caller is told of a handoff that cannot be, and of a sub-agent that fails."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            handed = [self.target(call) for call in calls if self.target(call)]
            if len(handed) > 1 or any(one not in self.members for one in handed):
                raise LookupError(f"the conversation cannot go to {', '.join(map(str, handed))}")
            super().round(history, calls)

        def failure(self, problem: Exception) -> str:
            raise problem

    able: ClassVar[Any] = {"handoffs": True, "subagents": True, "limit": True}


class QuestionOnly(Driver):
    """A right loop: the new agent gets what the user has said, and nothing of the agents before it."""

    class team(Team):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            history[:] = [one for one in history if one["role"] == "user"]


class Knows(Driver):
    """A right loop: a sub-agent is also told what the user has asked, and its answer comes in JSON."""

    class team(Team):
        """A sub-agent hears what the user has asked."""

        def beginning(self, name: str, request: str) -> list[Json]:
            asked = self.case["messages"][-1]["content"]
            return [{"role": "user", "content": f"The user asked: {asked}\n\nYour task: {request}"}]

        def answered(self, name: str, history: list[Json]) -> str:
            return json.dumps({"agent": name, "answer": super().answered(name, history)})


class Remembers(Driver):
    """A right loop: a sub-agent remembers what it was asked before, and its failure is told in the loop's words."""

    class team(Team):
        def __init__(self, case: Any) -> None:
            super().__init__(case)
            self.known: dict[str, list[Json]] = {}

        def beginning(self, name: str, request: str) -> list[Json]:
            return [*self.known.get(name, []), *super().beginning(name, request)]

        def answered(self, name: str, history: list[Json]) -> str:
            self.known[name] = history
            return super().answered(name, history)

        def failure(self, problem: Exception) -> str:
            return "The agent could not finish."

    able: ClassVar[Any] = {"handoffs": True, "subagents": True, "limit": True}


class WholeRun(Driver):
    """A right loop: the result of a sub-agent has all that was said in its conversation."""

    class team(Team):
        def answered(self, name: str, history: list[Json]) -> str:
            return "\n".join(f"{name}: {one['content']}" for one in history[1:] if one["content"])


class Alone(Driver):
    """A right loop: a handoff beside other calls does not take place, which its result says in other words."""

    class team(Team):
        def round(self, history: list[Json], calls: list[Json]) -> None:
            over = [call for call in calls if self.target(call)]
            others = [call for call in calls if call not in over]
            super().round(history, others or calls)
            if others:
                history += [self.result(call, "Bitte einzeln weiterleiten.") for call in over]
