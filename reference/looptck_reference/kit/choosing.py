"""The choice of tools in the options of a case."""

from __future__ import annotations

from looptck_reference.vocabulary.choice import Choice
from looptck_reference.vocabulary.values import Json

__all__ = ["choice_of"]


def choice_of(options: Json) -> Choice:
    """The choice of these options."""
    chosen, single = options.get("tool_choice", "auto"), options.get("parallel_calls") is False
    return Choice(tool=chosen["tool"], single=single) if isinstance(chosen, dict) else Choice(chosen, single=single)
