"""What is wrong with a prompt, and where."""

from __future__ import annotations

from pathlib import Path

from looptck_reference.loop.errors import LoopError

__all__ = ["Fault", "PromptError", "below"]


class PromptError(LoopError, ValueError):
    """A `.prompty` file cannot be used, or not with these inputs. The message begins with the place.

    `place` is a JSON pointer into the frontmatter, the number of a line, or None where the whole file is meant.
    """

    def __init__(self, path: Path, place: str | int | None, what: str) -> None:
        where = f"{path}:{place}" if isinstance(place, int) else f"{path}: {place}" if place else f"{path}"
        super().__init__(f"{where}: {what}")
        self.path = path
        self.place = place


class Fault(Exception):
    """What is wrong in the frontmatter, and its place in it; whoever knows the file makes a PromptError of it."""

    def __init__(self, pointer: str, what: str) -> None:
        super().__init__(pointer, what)
        self.pointer = pointer
        self.what = what


def below(pointer: str, part: str | int) -> str:
    """The JSON pointer to a member or item of what another one points to."""
    return f"{pointer}/{str(part).replace('~', '~0').replace('/', '~1')}"
