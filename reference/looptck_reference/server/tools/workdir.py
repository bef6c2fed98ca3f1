"""The working directory of a run: its input files, and its requested or new files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from looptck_reference.server.values import InputFile, Produced, RequestFiles

__all__ = ["Snapshot", "Workshop", "listed", "new_files"]


MOST_PATHS = 10_000
"""Files and folders of a working directory that are looked at."""


class Workshop:
    """The directory, and the runner's own files next to it; both exist from the first execution to the run's end.

    `python` holds the variables of the session's code, and is passed from execution to execution, and to the next run.
    """

    def __init__(self, files: RequestFiles = RequestFiles(), python: bytes = b"") -> None:  # noqa: B008  it is frozen
        self.declared = files.declared
        self.python = python
        self._inputs: Iterable[InputFile] = files.inputs
        self._base: Path | None = None

    def open(self) -> Path:
        """Create the directory, with the input files in it."""
        if self._base is None:
            self._base = Path(tempfile.mkdtemp(prefix="looptck-run-"))
            work = self._base / "work"
            work.mkdir()
            for file in self._inputs:
                (work / file.name).write_bytes(file.data)
        return self._base / "work"

    def close(self) -> None:
        """Remove everything."""
        if self._base is not None:
            shutil.rmtree(self._base, ignore_errors=True)
            self._base = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a directory tree, with time and size."""

    files: dict[Path, tuple[int, int]]

    @classmethod
    def of(cls, work: Path) -> Snapshot:
        """The current files, as many as are looked at; links are skipped."""
        every = islice(work.rglob("*"), MOST_PATHS)
        found = [path for path in every if path.is_file() and not path.is_symlink()]
        return cls({path: (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(found)})


def listed(work: Path, names: Sequence[str], limit: int) -> tuple[list[Produced], list[tuple[str, str]]]:
    """The files of these names, and the names of unavailable files, each with the reason.

    All files together have at most `limit` bytes.
    """
    produced: list[Produced] = []
    missing: list[tuple[str, str]] = []
    for name in dict.fromkeys(names):
        reason = _unfit(work, name, limit - sum(len(file.data) for file in produced))
        if reason is None:
            produced.append(Produced(name, (work / name).read_bytes()))
        else:
            missing.append((name, reason))
    return produced, missing


def new_files(work: Path, before: Snapshot) -> list[str]:
    """The names of the files that are new or changed since the snapshot."""
    changed = [path for path, what in Snapshot.of(work).files.items() if before.files.get(path) != what]
    return [path.relative_to(work).as_posix() for path in changed]


def _unfit(work: Path, name: str, limit: int) -> str | None:
    """Why a listed file is unavailable; a program may list any name, and put a link anywhere."""
    if not name or "\0" in name:
        return "it is not a file name"
    path = (work / name).resolve()
    if not path.is_relative_to(work.resolve()):
        return "it is outside of the working directory"
    if not path.is_file():
        return "there is no such file"
    return "it is too large" if path.stat().st_size > limit else None
