"""Parts of a turn on which the loop must not act: blocks of the service's own tools, and unknown blocks."""

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
    """Runs a search that the service has already run."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        searches = [piece for piece in turn.content if piece["type"] == "web_search_call"]
        return [*turn.calls, *(ToolCall(search["id"], "web_search", "{}") for search in searches)]


@breaks("hosted-tools-are-echoed", cells=MESSAGES)
class ServersForgotten(Loop):
    """Drops the calls of MCP servers and their results."""

    def append_turn(self, turn: Turn) -> None:
        kept = tuple(piece for piece in turn.content if not piece["type"].startswith("mcp_"))
        super().append_turn(replace(turn, content=kept))


@breaks("unknown-pieces-are-echoed", cells=MESSAGES)
class UnknownDropped(MessagesWire):
    """Drops blocks of unknown types."""

    def echo(self, turn: Turn) -> list[Json]:
        known = tuple(block for block in turn.content if not block["type"].startswith("x_"))
        return super().echo(replace(turn, content=known))
