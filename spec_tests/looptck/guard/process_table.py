"""The process table of Linux: the threads of a process and of all that it has started. Other systems have none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROCESSES = Path("/proc")
_AT_ONCE = 4096
"""Bytes of a table's entry that are read: its own entries are shorter, and so are lists of children."""


class Thread(NamedTuple):
    """A thread, which may have ended meanwhile: every look at it may raise OSError."""

    process: int
    id: int

    def read(self, name: str) -> bytes:
        """The entry of this name, in as few calls of the system as can be: it is looked at very often."""
        file = os.open(f"{PROCESSES}/{self.process}/task/{self.id}/{name}", os.O_RDONLY)
        try:
            text = os.read(file, _AT_ONCE)
            while len(text) % _AT_ONCE == 0 and (more := os.read(file, _AT_ONCE)):
                text += more
        finally:
            os.close(file)
        return text

    @property
    def state(self) -> str:
        """The letter of its state, which is behind its name; that is in brackets and may contain brackets."""
        return self.read("stat").rpartition(b")")[2].split()[0].decode()


@cache
def is_known() -> bool:
    """Whether this system has the table."""
    return (PROCESSES / "self" / "task").is_dir()


def main_thread(pid: int) -> Thread:
    """The thread with which a process has begun: its state is that of the process."""
    return Thread(pid, pid)


def threads(pid: int) -> Iterator[Thread]:
    """All threads of a process and its descendants."""
    try:
        own = os.listdir(f"{PROCESSES}/{pid}/task")  # noqa: PTH208  a Path for each thread takes longer than all else
    except OSError:
        return
    for name in own:
        thread = Thread(pid, int(name))
        yield thread
        try:
            children = thread.read("children").split()
        except OSError:
            continue
        for child in children:
            yield from threads(int(child))
