"""The reference's dialects, with different answers in that of the skill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.dialects import ANTHROPIC_LOOP, Dialect


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The dialects, with these answers in that of ``anthropic-loop``."""
    return {**Driver.dialects, "anthropic-loop": replace(ANTHROPIC_LOOP, **answers)}
