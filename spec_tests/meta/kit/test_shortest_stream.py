"""A framing that breaks a loop is shrunk, and the failure shows the stream that is left."""

from __future__ import annotations

from typing import ClassVar

import pytest

from looptck_reference.driver import Driver
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT
from looptck_reference.wires.sse import EventReader
from meta.drivers.bench import judged

BROKEN = f"python:{__name__}:Hasty"


class OneWriteOneReading(EventReader):
    """Takes every write for whole lines: what was left of the one before is forgotten."""

    def feed(self, piece: bytes) -> list[str]:
        self._tail.clear()
        return super().feed(piece)


class Hasty(Driver):
    """Reads streams so. Not on Responses, whose last event says everything again and mends most of it."""

    wires: ClassVar = {
        name: type("Hasty", (type(wire),), {"reader": OneWriteOneReading})()
        for name, wire in {"openai-chat": OPENAI_CHAT, "anthropic-messages": ANTHROPIC_MESSAGES}.items()
    }


@pytest.mark.parametrize("wire", Hasty.wires)
def test_the_shortest_stream_is_shown(wire: str) -> None:
    """Of all framings that break the loop the shortest is left: one call without arguments, cut once."""
    report = judged(BROKEN, "framing-does-not-matter", cells=(f"{wire}/stream/sync",), cases=("any-framing",))

    assert {"fail": 1} == report.counts
    _, _, shown = report.printed.partition("the stream of reply 1, in 2 writes:")
    stream, _, _ = shown.partition("tools that ran")
    assert 2 == stream.count("--- end of a write")
    assert "data:" in stream.replace("d'\n    --- end of a write\n    b'ata:", "data:")
    assert 30 > stream.count("\n")
