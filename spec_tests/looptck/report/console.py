"""The console that commands print to."""

from __future__ import annotations

from rich.console import Console

from looptck.guard import playing
from looptck.guard.folder import COULD_NOT_RUN

WIDTH = 140
"""Columns of what is printed to no terminal."""


class _Heard(Console):
    """A console whose report goes nowhere once nobody reads it, as behind ``| head``: what plays and writes goes on."""

    def on_broken_pipe(self) -> None:
        playing.mute()


def output_console(width: int = WIDTH) -> Console:
    """A console on the command's output, as wide as its terminal; or this wide where it is none."""
    made = _Heard(file=playing.output())
    return made if made.is_terminal else _Heard(file=playing.output(), width=width)


def could_not_run(console: Console, why: str) -> int:
    """Say why a command could not run; returns its exit status."""
    console.print(f"looptck could not run: {why}", style="bold red", markup=False, soft_wrap=True)
    return COULD_NOT_RUN
