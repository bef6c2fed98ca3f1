"""Connections: which process has one. Only Linux tells."""

from __future__ import annotations

from collections.abc import Iterator

from looptck.guard.process_table import PROCESSES, threads

CLOSED = "0"
"""The inode that Linux lists for a connection which its process has closed."""
_ESTABLISHED = "01"


def has_connection(pid: int, port: int, to: int) -> bool | None:
    """Whether a process or a descendant has the TCP connection from one port of this machine to another.

    None: its process has closed it.
    """
    inode = _inode(port, to)
    return None if inode == CLOSED else f"socket:[{inode}]" in _open_files(pid)


def established() -> Iterator[tuple[tuple[int, int], str]]:
    """All TCP connections that are open, each by its local and its remote port and the inode of its socket."""
    for line in _connections():
        _, local, remote, state, *rest = line.split()
        if state == _ESTABLISHED:
            yield (_port(local), _port(remote)), rest[5]


def _connections() -> Iterator[str]:
    """The lines of the system's tables of connections."""
    for table in ("tcp", "tcp6"):  # a client that may speak both lists its connection under tcp6
        try:
            lines = (PROCESSES / "net" / table).read_text().splitlines()
        except OSError:
            continue
        yield from lines[1:]


def _inode(port: int, to: int) -> str | None:
    """The inode of the connection's socket; None if it is not listed."""
    ends = f":{port:04X} ", f":{to:04X} "  # of thousands of lines, most of connections that were, few are looked at
    for line in _connections():
        if ends[0] not in line or ends[1] not in line:
            continue
        _, local, remote, *rest = line.split()
        if (_port(local), _port(remote)) == (port, to):
            return rest[6]
    return None


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _open_files(pid: int) -> Iterator[str]:
    """What the open files of a process and its descendants are."""
    for process in {thread.process for thread in threads(pid)}:
        yield from open_files(process)


def open_files(process: int) -> Iterator[str]:
    """What the open files of a process are; none if it has ended, or belongs to another user."""
    try:
        files = list((PROCESSES / str(process) / "fd").iterdir())
    except OSError:
        return
    for file in files:
        try:
            yield str(file.readlink())
        except OSError:
            continue
