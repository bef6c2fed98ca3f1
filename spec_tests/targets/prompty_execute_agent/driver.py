"""The driver of the Prompty that the Agent Mode guide is about: the last one with ``execute_agent``.

It returns the text of a stream when it has all of it, so its caller hears nothing while text arrives.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import prompty
from prompty_alpha import AlphaDriver


class Driver(AlphaDriver):
    """Runs the kit's cases on ``prompty.execute_agent``."""

    name = "prompty execute_agent"
    profiles = ("prompty-agent-mode",)
    wires = ("openai-chat", "anthropic-messages")
    listens = False
    loop = staticmethod(prompty.execute_agent)
    loop_async = staticmethod(prompty.execute_agent_async)
