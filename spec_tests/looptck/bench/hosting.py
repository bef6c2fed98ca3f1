"""Hosted tools: a script that plays them needs a loop that can offer them, and its cases offer them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from looptck.drivers import Started
from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.history import Opaque
from looptck.values.turns import Hosted, HostedKind, Served, Turn
from looptck.values.verdicts import NotApplicable
from looptck.wires.wire import Wire

NEEDS: dict[HostedKind, str] = {"search": "hosted", "mcp": "mcp"}
"""The capability that a loop needs to offer a kind of hosted tool."""
SERVER = {"name": "looptck", "url": "https://mcp.looptck.example/sse"}
"""The MCP server of a script whose case names none."""


def offering(options: RunOptions, steps: Iterable[Step], wire: Wire, started: Started) -> RunOptions:
    """The options, plus the hosted tools that these steps play.

    Raises:
        NotApplicable: the implementation cannot offer one of them.
    """
    kinds = {kind for kind in _played(steps) if _is_said(kind, wire)}
    for kind in sorted(kinds):
        if not started.can(NEEDS[kind]):
            raise NotApplicable(f"the driver declares no capability `{NEEDS[kind]}`")
    servers = options.mcp_servers or ([SERVER] if "mcp" in kinds else ())
    return replace(options, mcp_servers=servers, hosted_tools=["search"] if "search" in kinds else ())


def _played(steps: Iterable[Step]) -> Iterable[HostedKind]:
    turns = (step.turn for step in steps if step.turn is not None)
    pieces = [piece for turn in turns for piece in turn.pieces]
    kinds = {piece.kind for piece in pieces if isinstance(piece, Hosted)}
    return kinds | ({"search"} if any(isinstance(piece, Served) for piece in pieces) else set())


def _is_said(kind: HostedKind, wire: Wire) -> bool:
    """Whether a wire can express such a tool; other wires omit it from a turn."""
    return any(isinstance(item, Opaque) for item in wire.echo(Turn((Hosted(kind, id="x"),))))
