"""A right loop on Chat Completions with several agents. A fault, or another right reading, replaces a step."""

# ruff: noqa: BLE001

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from looptck.driver import error, handlers, post, started, value

Json = dict[str, Any]
LIMIT = 30


class TooMany(Exception):
    """The limit of model calls is reached."""


class Team:
    """One run: its agents, which of them speaks, and how often the model was asked."""

    active: str

    def __init__(self, case: Any) -> None:
        self.case = case
        self.members: dict[str, Json] = {member["name"]: member for member in case["agents"]}
        self.tools = {tool["name"]: tool for tool in case["tools"]}
        self.functions: dict[str, Callable[..., Any]] = handlers(case)
        self.limit = case["options"].get("limit", LIMIT)
        self.asked = 0
        self.cut: list[Json] = []
        self.active = case["agents"][0]["name"]

    # -- what is offered

    def offers(self, name: str) -> list[Json]:
        member = self.members[name]
        own = [self.offer(self.tools[tool]) for tool in member["tools"]]
        return [*own, *map(self.transfer, member["handoffs"]), *map(self.asking, member["subagents"])]

    def offer(self, tool: Json) -> Json:
        known = {key: tool[key] for key in ("name", "description", "parameters")}
        return {"type": "function", "function": known}

    def transfer(self, target: str) -> Json:
        nothing: Json = {"type": "object", "properties": {}}
        about = f"Hands the conversation over. {self.members[target]['description']}"
        return self.offer({"name": f"transfer_to_{target}", "description": about, "parameters": nothing})

    def asking(self, target: str) -> Json:
        request: Json = {
            "type": "object",
            "properties": {"request": {"type": "string", "description": "What the agent is to do."}},
            "required": ["request"],
        }
        return self.offer(
            {"name": f"ask_{target}", "description": self.members[target]["description"], "parameters": request}
        )

    # -- what is asked

    def system(self, name: str) -> list[Json]:
        return [{"role": "system", "content": self.members[name]["instructions"]}]

    def body(self, name: str, history: list[Json]) -> Json:
        return {
            "model": self.case["model"],
            "messages": [*self.system(name), *history],
            "tools": self.offers(name),
        }

    def count(self) -> None:
        self.asked += 1
        if self.asked > self.limit:
            raise TooMany(f"the limit of {self.limit} model calls is reached")

    def ask(self, name: str, history: list[Json]) -> Json:
        self.count()
        reply = post(f"{self.case['base_url']}/chat/completions", self.body(name, history))
        turn: Json = reply["choices"][0]["message"]
        kept = {"role": "assistant", "content": turn.get("content")}
        kept |= {"tool_calls": turn["tool_calls"]} if turn.get("tool_calls") else {}
        if reply["choices"][0]["finish_reason"] == "length":
            self.cut.append(kept)
        return kept

    # -- the loop

    def talk(self, history: list[Json]) -> str:
        """The conversation with the user, in which agents hand over to each other."""
        while True:
            turn = self.ask(self.active, history)
            history.append(turn)
            if "tool_calls" not in turn:
                return turn["content"] or ""
            self.round(history, turn["tool_calls"])

    def round(self, history: list[Json], calls: list[Json]) -> None:
        """Answers all calls; the first handoff among them counts."""
        speaker, target = self.active, None
        ordinary = [call for call in calls if self.target(call) is None]
        with ThreadPoolExecutor(8) as threads:
            results = threads.map(lambda one: self.ran(speaker, one), ordinary)
            told = {call["id"]: text for call, text in zip(ordinary, results, strict=True)}
        for call in calls:
            wanted = self.target(call)
            if wanted is None:
                history.append(self.result(call, told[call["id"]]))
            elif wanted not in self.members[speaker]["handoffs"]:
                history.append(self.result(call, f"Error: there is no agent {wanted}."))
            elif target is None:
                target = wanted
                history.append(self.result(call, f"You are {wanted} now."))
            else:
                history.append(self.result(call, f"Ignored: the conversation goes to {target}."))
        if target is not None:
            self.hand_over(target, history)

    def hand_over(self, target: str, history: list[Json]) -> None:
        self.active = target

    def target(self, call: Json) -> str | None:
        """The agent to which a call hands over; None: it is another call."""
        name = call["function"]["name"]
        return name.removeprefix("transfer_to_") if name.startswith("transfer_to_") else None

    def called(self, call: Json) -> tuple[str, str] | None:
        """The agent that a call asks as a tool, and what it asks; None: it is another call."""
        name = call["function"]["name"]
        if not name.startswith("ask_"):
            return None
        return name.removeprefix("ask_"), json.loads(call["function"]["arguments"])["request"]

    def result(self, call: Json, text: str) -> Json:
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    def ran(self, name: str, call: Json) -> str:
        try:
            if (asked := self.called(call)) is not None:
                return self.consult(*asked)
            tool = call["function"]["name"]
            if tool not in self.members[name]["tools"]:
                return f"Error: there is no tool {tool}."
            got = self.functions[tool](**json.loads(call["function"]["arguments"] or "{}"))
            return got if isinstance(got, str) else json.dumps(got)
        except TooMany:
            raise
        except Exception as problem:
            return self.failure(problem)

    def failure(self, problem: Exception) -> str:
        return f"Error: {type(problem).__name__}: {problem}"

    # -- agents as tools

    def beginning(self, name: str, request: str) -> list[Json]:
        return [{"role": "user", "content": request}]

    def consult(self, name: str, request: str) -> str:
        """An agent as a tool: a conversation of its own, whose last text is the result."""
        history = self.beginning(name, request)
        while True:
            turn = self.ask(name, history)
            history.append(turn)
            if "tool_calls" not in turn:
                cut = any(turn is one for one in self.cut)
                return self.answered(name, history) + (" [cut off by the token limit]" if cut else "")
            history += [self.result(call, self.ran(name, call)) for call in turn["tool_calls"]]

    def answered(self, name: str, history: list[Json]) -> str:
        return history[-1]["content"] or ""


class Driver:
    """A right loop: handoffs replace the system prompt and the tools, and agents as tools talk apart."""

    team: ClassVar[type[Team]] = Team
    able: ClassVar[Any] = {"handoffs": True, "subagents": True, "limit": True, "conversations": True, "parallel": True}

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, list[Json]]] = {}

    def start(self) -> Any:
        return started(type(self).__name__, "1", wires=["openai-chat"], modes=["sync"], **self.able)

    def run(self, case: Any, emit: Any) -> Any:
        if "agents" not in case:
            one = {"name": "only", "description": "", "handoffs": [], "subagents": []}
            system = [message["content"] for message in case["messages"] if message["role"] == "system"]
            said = [message for message in case["messages"] if message["role"] != "system"]
            every = [tool["name"] for tool in case["tools"]]
            case = {**case, "messages": said, "agents": [{**one, "instructions": "\n".join(system), "tools": every}]}
        team = self.team(case)
        active, history = self.before(case, team)
        team.active = active
        try:
            return value(team.talk(history))
        except Exception as problem:
            return error(problem, reasons={TooMany: "limit"})
        finally:
            if "conversation" in case:
                self.kept[case["conversation"]] = self.after(team, history)

    def before(self, case: Any, team: Team) -> tuple[str, list[Json]]:
        active, history = self.kept.get(case.get("conversation", ""), (team.active, []))
        return active, [*history, *({"role": one["role"], "content": one["content"]} for one in case["messages"])]

    def after(self, team: Team, history: list[Json]) -> tuple[str, list[Json]]:
        return team.active, history
