"""A short digest of looptck's content: two runs with the same digest were judged by the same checks and data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from looptck.catalogue.data import cassette, fixture

LENGTH = 16
"""The number of hexadecimal digits of the digest."""
_DATA = frozenset({".json", ".prompty", ".yaml"})


@cache
def content() -> str:
    """A digest of looptck's modules, the fixtures and the cassettes."""
    digest = hashlib.sha256()
    for name, path in sorted(_files()):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()[:LENGTH]


def _files() -> Iterator[tuple[str, Path]]:
    """The names, which do not tell where the kit is installed, and the places."""
    here = Path(__file__).resolve().parents[1]
    roots = {"looptck": here, "fixtures": fixture(""), "cassettes": cassette("")}
    for name, root in roots.items():
        for path in root.rglob("*"):
            inner = path.relative_to(root)
            wanted = {".py"} if name == "looptck" else _DATA
            if path.suffix in wanted and "_data" not in inner.parts and path.is_file():
                yield f"{name}/{inner.as_posix()}", path
