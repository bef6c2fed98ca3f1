"""A framing that breaks a loop is shrunk, and the failure shows the stream that is left."""

from __future__ import annotations

from typing import ClassVar

import pytest

from looptck_reference.kit.driver import Driver
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES
from looptck_reference.wires.sse import EventReader
from meta.drivers.bench import judged

WIRES = {
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "anthropic-messages": ANTHROPIC_MESSAGES,
}
BROKEN = f"python:{__name__}:Narrow"


class SpaceIsNeeded(EventReader):
    """Knows no data line without a space behind the colon."""

    def lines(self, text: bytes) -> list[bytes]:
        return [line for line in super().lines(text) if not line.startswith(b"data:{")]


class Narrow(Driver):
    """Reads streams so."""

    wires: ClassVar = {name: type("Narrow", (type(wire),), {"reader": SpaceIsNeeded})() for name, wire in WIRES.items()}


@pytest.mark.parametrize("wire", Narrow.wires)
def test_the_shortest_stream_is_shown(wire: str) -> None:
    """The shortest that breaks the loop is left: natural but for the space, one call, no arguments."""
    report = judged(BROKEN, "framing-does-not-matter", cells=(f"{wire}/stream/sync",), cases=("any-framing",))

    assert {"fail": 1} == report.counts
    _, _, shown = report.printed.partition("the stream of reply 1, in 1 write, with ")
    dress, _, stream = shown.partition(":\n")
    stream, _, _ = stream.partition("  tools that ran")
    assert "values right behind their colons" == dress
    assert not [extra for extra in ("weather", " add ", "text:", "not JSON") if extra in stream]
    assert 20 > stream.count("\n")
