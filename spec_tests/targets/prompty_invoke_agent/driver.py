"""The driver of the Prompty that the profile prompty-spec is about: the last one with an ``invoke_agent`` of its own.

Only Chat Completions is driven. On Anthropic Messages every run ends in KeyError after its first tools have run:
``format_tool_messages`` (in ``prompty/providers/anthropic/executor.py``) writes ``content``, and ``_message_to_wire``
in the same file reads ``result``. On the Responses API it cannot stream, and is otherwise what ``prompty_responses``
drives.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import prompty
from prompty_alpha import AlphaDriver


class Driver(AlphaDriver):
    """Runs the kit's cases on ``prompty.invoke_agent``."""

    name = "prompty invoke_agent"
    profiles = ("prompty-spec",)
    wires = ("openai-chat",)
    loop = staticmethod(prompty.invoke_agent)
    loop_async = staticmethod(prompty.invoke_agent_async)
