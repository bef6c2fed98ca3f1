"""What the tests of prompts share: files of a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from looptck_reference.prompty.prompts import Prompt, load
from looptck_reference.vocabulary.values import Json

SAMPLES = Path(__file__).parent / "prompts"
HEAD = "name: sample\nmodel: some-model"
"""What every prompt has to say."""


def written(folder: Path, body: str, front: str = HEAD, *, name: str = "sample.prompty") -> Path:
    """A file with this frontmatter and body. The body begins two lines below the frontmatter's last."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}\n---\n{body}", encoding="utf-8")
    return path


def loaded(folder: Path, body: str = "user:\nGo.", front: str = HEAD, **environment: str) -> Prompt:
    """The prompt of such a file, with only these variables in the environment."""
    return load(written(folder, body, front), environment=environment)


def said(folder: Path, body: str, inputs: Mapping[str, Any] | None = None, front: str = HEAD) -> list[tuple[str, str]]:
    """Roles and contents of the messages that a body makes of inputs."""
    return parts(loaded(folder, body, front).messages(inputs or {}))


def parts(messages: list[Json]) -> list[tuple[str, str]]:
    """Roles and contents."""
    return [(message["role"], message["content"]) for message in messages]
