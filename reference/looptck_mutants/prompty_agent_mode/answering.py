"""The guide's dialect with different answers to some questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.dialects import PROMPTY_AGENT_MODE, Dialect


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with these answers in that of the guide."""
    return {**Driver.dialects, "prompty-agent-mode": replace(PROMPTY_AGENT_MODE, **answers)}
