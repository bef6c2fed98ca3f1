"""The reference's dialects, with the skill's questions answered otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.dialects import ANTHROPIC_LOOP, Dialect


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """With other answers to these questions."""
    return {**Driver.dialects, "anthropic-loop": replace(ANTHROPIC_LOOP, **answers)}
