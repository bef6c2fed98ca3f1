"""Files that a command writes its results to: tried before it begins, so that nothing is played in vain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console


def unwritable(paths: Iterable[Path | None]) -> str | None:
    """The first of these files that cannot be written, and why, as a line; None where all can."""
    named = [path for path in paths if path is not None]
    if twice := next((path for path in named if [one.resolve() for one in named].count(path.resolve()) > 1), None):
        return f"{twice} is to hold two kinds of results; name two files"
    for path in named:
        is_there = path.exists()
        try:
            with path.open("ab"):
                pass
            if not is_there:
                path.unlink()
        except OSError as error:
            return _line(path, error)
    return None


def write_all(texts: Mapping[Path, str], console: Console) -> list[Path]:
    """Write texts to files, and print a line for each that cannot be written; returns those files."""
    lost = []
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            lost.append(path)
            console.print(_line(path, error), style="bold red", markup=False, soft_wrap=True)
    return lost


def _line(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"
