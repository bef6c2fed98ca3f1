"""What is wrong with a prompt, and where."""

from __future__ import annotations

from pathlib import Path

from looptck_reference.errors import LoopError

__all__ = ["PromptError"]


class PromptError(LoopError, ValueError):
    """A `.prompty` file cannot be used, or not with these inputs. The message begins with the place, FILE:LINE."""

    def __init__(self, path: Path, line: int | None, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        self.path = path
        self.line = line
