"""Cassettes with one thing changed, for the tests of what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from looptck.cassettes import fingerprint
from looptck.data import cassette

WHOLE = cassette("openai-chat/one-call-plain.yaml")


def doctored(folder: Path, change: Callable[[Any], object], *, rehashed: bool = True, name: str = WHOLE.stem) -> Path:
    """A copy of a good cassette after ``change`` has been at its content; its hash fits, unless told otherwise."""
    content = yaml.safe_load(WHOLE.read_text(encoding="utf-8"))
    change(content)
    if rehashed:
        content["provenance"]["sha256"] = fingerprint(content["interactions"])
    return written(folder, yaml.safe_dump(content), name=name)


def written(folder: Path, text: str, *, name: str = WHOLE.stem) -> Path:
    """A cassette of this text, in the folder of its wire."""
    path = folder / WHOLE.parent.name / f"{name}.yaml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path
