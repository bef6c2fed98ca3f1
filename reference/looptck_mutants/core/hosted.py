"""Pieces of a turn that are not the loop's to act upon: those of the service's own tools, and those of the future."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Json, ToolCall, Turn
from looptck_reference.wires import MessagesWire


@breaks("hosted-tools-are-never-dispatched", cells=RESPONSES)
class HostedDispatched(Loop):
    """Takes a search that the service has done for a call to it."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        searches = [piece for piece in turn.content if piece["type"] == "web_search_call"]
        return [*turn.calls, *(ToolCall(search["id"], "web_search", "{}") for search in searches)]


@breaks("hosted-tools-are-echoed", cells=MESSAGES)
class ServersForgotten(Loop):
    """Forgets what MCP servers were asked and said."""

    def append_turn(self, turn: Turn) -> None:
        kept = tuple(piece for piece in turn.content if not piece["type"].startswith("mcp_"))
        super().append_turn(replace(turn, content=kept))


@breaks("unknown-pieces-are-echoed", cells=MESSAGES)
class UnknownDropped(MessagesWire):
    """Forgets the blocks whose kind it does not know."""

    def echo(self, turn: Turn) -> list[Json]:
        known = tuple(block for block in turn.content if not block["type"].startswith("x_"))
        return super().echo(replace(turn, content=known))
