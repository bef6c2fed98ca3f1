"""Names of tools that the service does not allow, and prefixes that change from request to request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import ChatWire


def _plain(name: str) -> str:
    return "".join(one if one.isascii() and one.isalnum() else "_" for one in name)


class _Offering(Loop):
    """Offers the tools under names of its own where one has a name that the service does not allow."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        if [*agent.offered] != [tool.name for tool in agent.tools]:
            object.__setattr__(agent, "offered", {self.name(tool): tool for tool in agent.tools})
        super().__init__(agent, **options)

    def name(self, tool: Tool) -> str:
        raise NotImplementedError


@breaks(
    "names-are-legal-on-the-wire",
    cells=CHAT,
    collateral={"names-that-fall-together-stay-apart": "of such names only one is left"},
)
class LongNames(_Offering):
    """Replaces the characters that the service does not allow, and does not look at the length."""

    def name(self, tool: Tool) -> str:
        return _plain(tool.name)


@breaks("names-are-legal-on-the-wire", "mcp-names-are-legal-on-the-wire", cells=CHAT)
class AllCharacters(_Offering):
    """Cuts long names, and does not look at their characters."""

    def name(self, tool: Tool) -> str:
        return tool.name[:64]


@breaks(
    "offered-name-calls-its-tool",
    cells=CHAT,
    collateral={"names-that-fall-together-stay-apart": "of such names only one is left"},
)
class OwnNamesOnly(Loop):
    """Finds a tool by its own name only, not by the one under which it has offered it."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return self.registry.get_tool(call.name)


@breaks("names-that-fall-together-stay-apart", cells=CHAT)
class OneNameOneTool(_Offering):
    """Replaces all but letters and digits by underscores: of two tools with one name the last is the only one."""

    def name(self, tool: Tool) -> str:
        return _plain(tool.name)[:64]


@breaks("names-that-fall-together-stay-apart", cells=CHAT)
class FirstOfThatName(Loop):
    """Runs the first tool whose name begins like the one that was called."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        tool = next((tool for name, tool in self.tools.items() if call.name.startswith(name[:12])), None)
        return super().handler_of_name(call) if tool is None else self.registry.get_tool(tool.name)


@breaks("offered-name-calls-its-tool", cells=CHAT)
class OwnNamesInTheHistory(Loop):
    """Sends calls back under the tools' own names."""

    def append_turn(self, turn: Turn) -> None:
        own = {name: tool.name for name, tool in self.tools.items()}
        calls = tuple(replace(call, name=own.get(call.name, call.name)) for call in turn.calls)
        super().append_turn(replace(turn, calls=calls))


class _Request(ChatWire):
    asked = 0

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        self.asked += 1
        return {**body, **self.changed(body)}

    def changed(self, body: Json) -> Mapping[str, Any]:
        raise NotImplementedError


@breaks("prefix-is-the-same", cells=CHAT)
class MembersTakeTurns(_Request):
    """Writes the members of its messages in another order in every other request."""

    def changed(self, body: Json) -> Mapping[str, Any]:
        step = -1 if self.asked % 2 else 1
        return {"messages": [dict([*message.items()][::step]) for message in body["messages"]]}
