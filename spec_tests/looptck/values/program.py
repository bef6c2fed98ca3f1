"""What became of a whole program in one run: its exit status, its output, its marks and what it left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.history import Asked, spelled
from looptck.values.jsontext import canonical


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
    """A run of the described tool, as its mark tells, or of a tool of the kit."""

    at: float
    text: str
    """The word in the mark, which also stands in the arguments of the call; empty for a tool of the kit."""
    tool: str
    """The tool of the script for which the described tool stood."""
    lost: bool
    """Whether the turn of its call was broken, so that nothing should run."""
    arguments: Any = None
    """Those of a tool of the kit."""

    def is_of(self, asked: Asked) -> bool:
        """Whether a call in a history is the one that ran."""
        if self.text:
            return self.text in asked.arguments
        return asked.tool == self.tool and spelled(asked.arguments) == canonical(self.arguments)


@dataclass(slots=True)
class ProgramRun:
    """The part of a run that only whole programs have."""

    takes_tools: bool = False
    """Whether it is given the kit's tools, which leave no marks but ask the toolbox."""
    marks: list[Mark] = field(default_factory=list)
    exit: Exit | None = None
    """None: it has not ended."""
