"""What every mutant of the 010 loop is: the reference with one seam broken on purpose, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from looptck_reference.agent_loop_010.driver import Driver

__all__ = ["SolutionMutant"]

BOTH = ("openai-chat/plain/async", "openai-chat/stream/async")
STREAM = ("openai-chat/stream/async",)


class SolutionMutant(Driver):
    """The driver of the 010 loop with one fault; `Mutant` says what the members mean."""

    breaks: ClassVar[tuple[str, ...]]
    also: ClassVar[Mapping[str, str]] = MappingProxyType({})
    cells: ClassVar[tuple[str, ...]] = BOTH
    coarse: ClassVar[bool] = False
