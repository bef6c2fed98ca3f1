"""Files that a command writes its results to: tried before it begins, so that nothing is played in vain."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def unwritable(paths: Iterable[Path | None]) -> str | None:
    """The first of these files that cannot be written, and why, as a line; None where all can."""
    for path in paths:
        if path is None:
            continue
        is_there = path.exists()
        try:
            with path.open("ab"):
                pass
            if not is_there:
                path.unlink()
        except OSError as error:
            return _line(path, error)
    return None


def write(path: Path, text: str) -> str | None:
    """Write a text to a file; why it could not be written, as a line, or None."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return _line(path, error)
    return None


def _line(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"
