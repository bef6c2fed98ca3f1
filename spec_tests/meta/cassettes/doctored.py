"""Cassettes with one thing changed, for the tests of what is refused and of what is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from looptck.cassettes.file_format import fingerprint
from looptck.catalogue.data import cassette

WHOLE = cassette("openai-chat/one-call-plain.yaml")
STREAM = cassette("openai-chat/one-call-stream.yaml")

Change = Callable[[Any], object]


def unchanged(content: object) -> None:
    """Leaves the cassette as it is."""


def doctored(
    folder: Path,
    change: Change = unchanged,
    *,
    rehashed: bool = True,
    of: Path = WHOLE,
    wire: str | None = None,
    name: str | None = None,
) -> Path:
    """A copy of a good cassette, its content changed by ``change``; its hash fits if ``rehashed``."""
    content = yaml.safe_load(of.read_text(encoding="utf-8"))
    change(content)
    if rehashed:
        content["provenance"]["sha256"] = fingerprint(content["interactions"])
    return written(folder, yaml.safe_dump(content, sort_keys=False), wire=wire or of.parent.name, name=name or of.stem)


def written(folder: Path, text: str, *, wire: str = WHOLE.parent.name, name: str = WHOLE.stem) -> Path:
    """A cassette of this text, in the folder of its wire."""
    path = folder / wire / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def chunked(cassette: Path, change: Change = unchanged) -> Path:
    """The file of chunks of a stream, two chunks for each reply, its content changed by ``change``."""
    content = yaml.safe_load(cassette.read_text(encoding="utf-8"))
    lengths = [len(one["response"]["body"]["text"].encode()) for one in content["interactions"]]
    chunks = {
        "version": 2,
        "cassette": content["provenance"]["sha256"],
        "interactions": [{"ends": [length // 3, length], "ms": [1.5, 2]} for length in lengths],
    }
    change(chunks)
    path = cassette.with_name(f"{cassette.stem}.chunks.yaml")
    path.write_text(yaml.safe_dump(chunks), encoding="utf-8")
    return path
