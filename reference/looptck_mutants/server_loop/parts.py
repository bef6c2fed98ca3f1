"""The parts of the simulator that a mutant may replace."""

from __future__ import annotations

from looptck_mutants.breaking import Breaks, holding
from looptck_mutants.cells import CHAT
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.messages import MessagesFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.bench import Bench
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator

__all__ = ["breaks"]

breaks = Breaks(
    Bench,
    cells=CHAT,
    parts={
        Simulator: holding(Bench, "simulator"),
        ServerLoop: holding(Simulator, "loop"),
        ChatFrames: holding(Simulator, "chat"),
        ResponsesFrames: holding(Simulator, "responses"),
        MessagesFrames: holding(Simulator, "messages"),
    },
)
"""The decorator of the mutants of the simulator: servers with one fault each."""
