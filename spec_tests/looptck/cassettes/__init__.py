"""Cassettes: conversations with real servers, in ``cassettes/WIRE/SCENARIO-plain.yaml`` or ``-stream.yaml``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path

from looptck.cassettes.cassette import CHUNKS, Cassette, RecordedExchange, inside, read, scenario_of
from looptck.catalogue.data import cassette
from looptck.catalogue.yaml_files import BadFile
from looptck.values.cell import Cell

__all__ = ["Cassette", "RecordedExchange", "cassettes", "files", "read"]


def cassettes(
    folder: Path | None = None, patterns: Sequence[str] = (), scenarios: Container[str] | None = None
) -> tuple[Cassette, ...]:
    """The cassettes in the folders of the wires in a folder; None: in that of the project.

    Args:
        folder: where they are.
        patterns: only those that are played in cells of these patterns; no other is read.
        scenarios: only those of these scenarios; None: of all.

    Raises:
        BadFile: one of them cannot be played, or there is none.
    """
    folder = folder or cassette("")
    found = [*files(folder)]
    if not found:
        raise BadFile(folder, "there is no cassette in it" if folder.exists() else "does not exist")
    return tuple(
        _read(path)
        for path in found
        if (not patterns or _is_played(path, patterns)) and (scenarios is None or scenario_of(path) in scenarios)
    )


def _is_played(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a cassette of this name is for a cell of these patterns."""
    stream = path.stem.endswith("-stream")
    return any(Cell(path.parent.name, stream, mode).matches(patterns) for mode in ("sync", "async"))


_read = cache(read)


def files(folder: Path) -> Iterator[Path]:
    """The files of cassettes in the folders of the wires in a folder, in order.

    Raises:
        BadFile: a link leads out of the folder.
    """
    return (path for path in inside(folder, folder.glob("*/*.yaml")) if not path.stem.endswith(CHUNKS))
