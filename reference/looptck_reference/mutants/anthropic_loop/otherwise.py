"""The reference's dialects, with the skill's questions answered otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.dialects import ANTHROPIC_LOOP, Dialect
from looptck_reference.driver import Driver


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """With other answers to these questions."""
    return {**Driver.dialects, "anthropic-loop": replace(ANTHROPIC_LOOP, **answers)}
