"""Errors in prompts, with their location."""

from __future__ import annotations

from pathlib import Path

from looptck_reference.vocabulary.errors import LoopError

__all__ = ["Fault", "PromptError", "below"]


class PromptError(LoopError, ValueError):
    """A `.prompty` file cannot be used, or not with these inputs. The message begins with the location.

    `place` is a JSON pointer into the frontmatter, a line number, or None for the whole file.
    """

    def __init__(self, path: Path, place: str | int | None, what: str) -> None:
        where = f"{path}:{place}" if isinstance(place, int) else f"{path}: {place}" if place else f"{path}"
        super().__init__(f"{where}: {what}")
        self.path = path
        self.place = place


class Fault(Exception):
    """An error in the frontmatter and its location; code that knows the file turns it into a `PromptError`."""

    def __init__(self, pointer: str, what: str) -> None:
        super().__init__(pointer, what)
        self.pointer = pointer
        self.what = what


def below(pointer: str, part: str | int) -> str:
    """The JSON pointer to a member or item of the value at `pointer`."""
    return f"{pointer}/{str(part).replace('~', '~0').replace('/', '~1')}"
