"""Right loops that put results elsewhere, refer to reasoning alone, or take no tools with nested arguments."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import ClassVar

from looptck_mutants.parts import speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ResponsesWire


class AdjacentWire(ResponsesWire):
    """Puts each result right behind its call, before what else the turn has said."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        results: defaultdict[str, deque[Json]] = defaultdict(deque)
        for item in history:
            if item.get("type") == "function_call_output":
                results[item["call_id"]].append(item)
        placed: list[Json] = []
        for item in history:
            if item.get("type") == "function_call_output":
                continue
            placed.append(item)
            if item.get("type") == "function_call" and results[item["call_id"]]:
                placed.append(results[item["call_id"]].popleft())
        return super().request(agent, placed, stream=stream)


class AnswersBesideCalls(Driver):
    """Walks over the items of a turn, and appends each call and its result."""

    wires = speaking(responses=AdjacentWire())


class ReferringToThoughts(ResponsesWire):
    """Sends reasoning back as a reference to its id, and all else in full."""

    def echo(self, turn: Turn) -> list[Json]:
        return [
            {"type": "item_reference", "id": item["id"]} if item["type"] == "reasoning" else item
            for item in super().echo(turn)
        ]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if name not in {"store", "include"}}


class LeavesThoughtsThere(Driver):
    """Relies on the service for reasoning alone, and says so."""

    wires: ClassVar = {"openai-responses": ReferringToThoughts()}

    def start(self) -> Json:
        started = super().start()
        return {**started, "capabilities": {**started["capabilities"], "memory": True}}


class TakesFlatTools(Driver):
    """Refuses a tool whose arguments hold an object, as a loop does whose users write signatures of plain types."""

    def _tool(self, tool: Json) -> Tool:
        members = tool["parameters"].get("properties", {}).values()
        if any("object" in (one.get("type"), one.get("items", {}).get("type")) for one in members):
            raise TypeError(f"{tool['name']} takes an object")
        return super()._tool(tool)
