"""The parts of the 010 loop that a mutant may replace."""

from __future__ import annotations

from looptck_mutants.breaking import Breaks, holding
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.driver import Driver
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.agent_loop_010.solution import Reader
from looptck_reference.agent_loop_010.structure import Structure

__all__ = ["BOTH", "STREAM", "breaks"]

BOTH = ("openai-chat/plain/async", "openai-chat/stream/async")
STREAM = ("openai-chat/stream/async",)

breaks = Breaks(
    Driver,
    cells=BOTH,
    parts={
        SolutionLoop: holding(Driver, "loop"),
        CallScheduler: holding(SolutionLoop, "tick"),
        Reader: holding(SolutionLoop, "reader"),
        Context: holding(SolutionLoop, "context"),
        Structure: holding(SolutionLoop, "structure"),
        Prompt: holding(SolutionLoop, "prompt"),
    },
)
"""The decorator of the mutants of the loop of Agent/Loop 010."""
