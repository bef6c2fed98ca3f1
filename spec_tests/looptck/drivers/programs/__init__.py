"""Whole programs under test: command-line agents with a base URL, a prompt and tools of their own."""

from __future__ import annotations

from looptck.drivers.programs.description import Description, Tool
from looptck.drivers.programs.programs import Programs, programs

__all__ = ["Description", "Programs", "Tool", "programs"]
