"""What became of a whole program in one run: its exit status, its output, its marks and what it left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a process: its status, what it wrote, and the processes that were alive after it."""

    status: int | None
    """None: it is no process of one case, or it was killed."""
    stdout: str = ""
    stderr: str = ""
    left: Sequence[str] = ()
    """The command lines of the processes that outlived it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A run of the described tool, as its mark tells."""

    at: float
    text: str
    """The word in the mark, which also stands in the arguments of the call."""
    tool: str
    """The tool of the script for which the described tool stood."""
    lost: bool
    """Whether the turn of its call was broken, so that nothing should run."""


@dataclass(slots=True)
class ProgramRun:
    """The part of a run that only whole programs have."""

    tool: str
    """The name of the described tool."""
    marks: list[Mark] = field(default_factory=list)
    exit: Exit | None = None
    """None: it has not ended."""
