"""The folder of one guarded command: its temporary files, its journal, and the status that it ended with.

A folder is locked for as long as its command runs. One without a lock was left by a command that was killed together
with its guard, and the next command removes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

FOLDER = "LOOPTCK_GUARD"
"""The environment variable that names the folder of a guarded command to it."""
LIFELINE = "LOOPTCK_GUARD_LIFELINE"
"""The one that names the descriptor of a pipe whose other end the guard holds: at its end the guard is gone."""
COULD_NOT_RUN = 2
"""The exit status of a command that could not run."""
PREFIX = "looptck-guard-"
"""The beginning of the names of such folders."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of one guarded command."""

    path: Path

    @property
    def files(self) -> Path:
        """Where the command keeps its temporary files."""
        return self.path / "files"

    def note(self, kind: str, **values: Any) -> None:
        """Add a line to the journal. The file is opened for each: a driver may close what descriptors it likes."""
        line = json.dumps({"kind": kind, **values}) + "\n"
        with contextlib.suppress(OSError):
            journal = os.open(f"{self.path}/journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                os.write(journal, line.encode())
            finally:
                os.close(journal)

    def journal(self) -> Iterator[dict[str, Any]]:
        """The lines of the journal, without one that was cut off."""
        with contextlib.suppress(FileNotFoundError), (self.path / "journal").open(encoding="utf-8") as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)

    def finish(self, status: int) -> None:
        """Say that the command has done all that it had to do."""
        (self.path / "finished").write_text(str(status), encoding="ascii")

    def status(self) -> int | None:
        """The exit status that the command has said it ends with; None if it has not said so."""
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int((self.path / "finished").read_text(encoding="ascii"))
        return None

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


class LockedFolder:
    """A new folder, locked until it is removed. Folders that commands have left behind are removed first."""

    def __init__(self) -> None:
        _sweep()
        while (made := _made()) is None:
            pass
        self.folder, self._lock = made

    def leave(self) -> None:
        """In a fork: the lock is the other process's."""
        os.close(self._lock)

    def remove(self) -> None:
        self.folder.remove()
        os.close(self._lock)


def _made() -> tuple[Folder, int] | None:
    """A new folder and its lock; None if another command has taken it for one that was left, before it was locked."""
    folder = Folder(Path(tempfile.mkdtemp(prefix=PREFIX)))
    folder.files.mkdir()
    lock = os.open(folder.path / "lock", os.O_CREAT | os.O_RDWR)
    if _lock(lock) and (folder.path / "lock").exists():
        return folder, lock
    os.close(lock)
    return None


def _sweep() -> None:
    """Remove the folders of commands that were killed together with their guards."""
    if sys.platform == "win32":
        return
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another user's, or one that is being made or removed just now
            lock = os.open(path / "lock", os.O_RDWR)
            try:
                if _lock(lock):
                    Folder(path).remove()
            finally:
                os.close(lock)


def _lock(descriptor: int) -> bool:
    """Whether the lock could be taken."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
