"""Child processes that write one line of JSON when they are ready, and stop when their stdin is closed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

START = 60.0
"""Seconds that a child may take to be ready."""
CHUNK = 65_536
"""The most bytes that are dropped at once."""
STOP = 10.0
"""Seconds that a child may take to stop; then it is killed."""


class ChildFailed(Exception):
    """A child process that is not ready, or not in time; the text holds the end of its stderr."""


@contextlib.contextmanager
def child(command: Sequence[str], message: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Run a child; ``message`` is written to its stdin as a line of JSON. Yields its first line.

    Raises:
        ChildFailed: it was not ready in time.
    """
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603  our own commands
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if message is not None:
                with contextlib.suppress(BrokenPipeError):  # it has ended, which its stdout will show
                    process.stdin.write(json.dumps(message).encode() + b"\n")
            yield _first_line(command, process.stdout, errors)
        finally:
            process.stdin.close()
            try:
                process.wait(STOP)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_line(command: Sequence[str], stdout: IO[bytes], errors: IO[bytes]) -> dict[str, Any]:
    """The first line of a child; the rest is read and dropped, so that the child never waits for a reader."""
    line = stdout.readline() if select.select([stdout], [], [], START)[0] else b""
    try:
        said: dict[str, Any] = json.loads(line)
    except ValueError as error:
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip()[-500:]
        raise ChildFailed(f"{' '.join(command)} was not ready: {last or line.decode(errors='replace')!r}") from error
    threading.Thread(target=_drop, args=(os.dup(stdout.fileno()),), daemon=True).start()
    return said


def _drop(rest: int) -> None:
    """Read a pipe to its end. It is this thread's own: the child's is closed while others may still write to it."""
    with open(rest, "rb", buffering=0) as pipe:
        while pipe.read(CHUNK):
            pass
