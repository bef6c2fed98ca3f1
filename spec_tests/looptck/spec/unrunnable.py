"""Calls of the model that no loop can run."""

from __future__ import annotations

import pytest

from looptck.bench.checks import on
from looptck.values.turns import Call

UNRUNNABLE = [
    pytest.param(Call.of("teleport", {"to": "Mars"}), id="unknown-tool"),
    pytest.param(Call("weather", '{"city": '), id="unreadable", marks=on("openai-*", "anthropic-messages/stream/*")),
]
"""One of a tool that nobody offers, and one whose arguments are no JSON, which plain replies of Messages cannot say."""
