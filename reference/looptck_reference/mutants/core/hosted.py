"""Pieces of a turn that are not the loop's to act upon: those of the service's own tools, and those of the future."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, RESPONSES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, ToolCall, Turn
from looptck_reference.wires import MessagesWire


class HostedDispatched(Mutant):
    """Takes a search that the service has done for a call to it: `hosted-tools-are-never-dispatched`."""

    breaks = ("hosted-tools-are-never-dispatched",)
    cells = RESPONSES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            searches = [piece for piece in turn.content if piece["type"] == "web_search_call"]
            return [*turn.calls, *(ToolCall(search["id"], "web_search", "{}") for search in searches)]


class ServersForgotten(Mutant):
    """Forgets what MCP servers were asked and said: `hosted-tools-are-echoed`."""

    breaks = ("hosted-tools-are-echoed",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            kept = tuple(piece for piece in turn.content if not piece["type"].startswith("mcp_"))
            super().append_turn(replace(turn, content=kept))


class UnknownDropped(Mutant):
    """Forgets the blocks whose kind it does not know: `unknown-pieces-are-echoed`."""

    breaks = ("unknown-pieces-are-echoed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            known = tuple(block for block in turn.content if not block["type"].startswith("x_"))
            return super().echo(replace(turn, content=known))

    wires = speaking(messages=Wire())
