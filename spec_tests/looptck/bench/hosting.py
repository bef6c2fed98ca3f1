"""Hosted tools: a script that plays them needs a loop that can offer them, and its cases offer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from looptck.drivers import Started
from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.history import Opaque
from looptck.values.turns import Hosted, HostedKind, Served, Turn
from looptck.values.verdicts import NotApplicable, no_capability
from looptck.wires.hosted import is_result, made_by
from looptck.wires.wire import Wire

NEEDS: dict[str, str] = {"search": "hosted", "mcp": "mcp", "other": "hosted_others"}
"""The capability that a loop needs to offer a kind of hosted tool."""
_SAID = frozenset({"message", "reasoning"})
"""The pieces that the model itself makes, without a tool."""
SERVER = {"name": "looptck", "url": "https://mcp.looptck.example/sse"}
"""The MCP server of a script whose case names none."""


def offering(options: RunOptions, steps: Iterable[Step], wire: Wire, started: Started) -> RunOptions:
    """The options, plus the hosted tools that these steps play.

    Raises:
        NotApplicable: the implementation cannot offer one of them, or no request can.
    """
    played = list(_played(steps, wire))
    for kind in sorted({tool["kind"] for tool in played}):
        if not started.can(NEEDS[kind]):
            raise NotApplicable(no_capability(NEEDS[kind]))
    offered: list[Mapping[str, Any]] = []
    for tool in played:
        if tool["kind"] != "mcp" and tool not in offered:
            offered.append(tool)
    servers = options.mcp_servers or ([SERVER] if {"kind": "mcp"} in played else ())
    return replace(options, mcp_servers=servers, hosted_tools=offered)


def _played(steps: Iterable[Step], wire: Wire) -> Iterator[Mapping[str, Any]]:
    """The hosted tools that leave something in these steps, in the form of the protocol."""
    for piece in (piece for step in steps if step.turn is not None for piece in step.turn.pieces):
        if isinstance(piece, Hosted) and _is_said(piece.kind, wire):
            yield {"kind": piece.kind}
        elif isinstance(piece, Served):
            maker = made_by(piece)
            if isinstance(maker, str):
                yield {"kind": maker}
            elif maker is not None:
                yield {"kind": "other", "tool": maker}
            elif not is_result(piece) and piece.value.get("type") not in _SAID:
                raise NotApplicable(
                    f"looptck does not know how a request offers what makes `{piece.value.get('type')}`"
                )


def _is_said(kind: HostedKind, wire: Wire) -> bool:
    """Whether a wire can express such a tool; other wires omit it from a turn."""
    return any(isinstance(item, Opaque) for item in wire.echo(Turn((Hosted(kind, id="x"),))))
