"""Loops that take functions alone, and no schemas."""

from __future__ import annotations

from collections.abc import Collection

from looptck.bench.checks import Implementation
from looptck.catalogue.agents import Tool
from looptck.values.verdicts import NotApplicable


def takes_functions_alone(implementation: Implementation, tool: Tool, offered: Collection[str]) -> None:
    """Raise NotApplicable if a tool is not offered because the loop takes functions whose signatures cannot say it."""
    if tool.name not in offered and implementation.started.dialect.get("tools") == "functions":
        raise NotApplicable(f"the loop takes functions alone, and no signature says the parameters of {tool.name}")
