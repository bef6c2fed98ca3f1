"""The choice of tools: what the caller of a run says about the model's calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["Choice"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether the model has to call a tool in its first turn, and which, and how many it may call in each."""

    mode: Literal["auto", "required", "none"] = "auto"
    tool: str | None = None
    """The agent's name of the one tool that the model has to call, whatever the mode."""
    single: bool = False
    """Whether each turn may have one call at most."""

    @property
    def after_a_round(self) -> Choice:
        """The choice for the requests after a round of tools, in which the model is free to answer."""
        forces = self.mode == "required" or self.tool is not None
        return replace(self, mode="auto", tool=None) if forces else self
