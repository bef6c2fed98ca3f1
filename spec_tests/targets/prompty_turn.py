"""What the drivers of Prompty 2.1 share: its loop is ``prompty.turn``."""

from __future__ import annotations

import os

import prompty
from prompty_driver import PromptyDriver

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

TRIES = {} if VARIANT == "retries" else {"max_llm_retries": 2}
"""Prompty waits two to three seconds before it asks a second time and four to five before a third, whatever the
service says about waiting; its default of three tries would cost minutes and show nothing that two do not."""


class TurnDriver(PromptyDriver):
    """Runs the kit's cases on ``prompty.turn``."""

    profiles = ("prompty-agent-mode", "prompty-spec")
    nests = False
    loop = staticmethod(prompty.turn)
    loop_async = staticmethod(prompty.turn_async)
    options = {**TRIES, "parallel_tool_calls": True} if VARIANT == "parallel" else TRIES
