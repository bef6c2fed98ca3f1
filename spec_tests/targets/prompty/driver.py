"""The driver of Microsoft's Prompty, on the wires that it can stream."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from prompty_turn import TurnDriver


class Driver(TurnDriver):
    """Runs the kit's cases on Prompty's providers ``openai`` and ``anthropic``."""

    name = "prompty"
    wires = ("openai-chat", "anthropic-messages")
    streams = True
