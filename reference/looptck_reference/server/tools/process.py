"""A program in a process of its own, with limits on time, memory, output and file size.

This is no sandbox: the program runs as the server's user and may use the network.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "ProcessLimits", "execute"]

SIGNALLED = 128
"""What the number of a signal is added to in an exit status."""
ENDING = 2.0
"""Seconds that the program in front may take to end all that is behind it."""
SUPERVISED = Path(__file__).with_name("supervised.py")
"""The program in front, which sets the limits and watches what the program starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Seconds, and bytes.

    memory: of each process, and of all of them together.
    output: of stdout, and of stderr, in the result; the rest is left out.
    file: of each written file, and of stdout and stderr.
    """

    seconds: float = 30
    memory: int = 512 * 1024 * 1024
    output: int = 64 * 1024
    file: int = 32 * 1024 * 1024
    processes: int = 32
    """Processes at the same time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a program; `status` is its exit status, or the negative number of the signal that killed it."""

    stdout: str
    stderr: str
    status: int
    late: bool
    milliseconds: int


async def execute(command: list[str], work: Path, limits: ProcessLimits) -> Ended:
    """Run a program in a directory; its output goes to files outside of that directory.

    The program and all that it has started have ended when this function returns, where the system lists processes;
    elsewhere its process group has. Output through pipes would make this function wait for what has left the group.
    """
    began, late = time.monotonic(), False
    bounds = [str(int(limits.seconds) + 1), str(limits.memory), str(limits.file), str(limits.processes)]
    outputs = [work.parent / name for name in ("stdout", "stderr")]
    with outputs[0].open("wb") as stdout, outputs[1].open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(SUPERVISED), *bounds, *command),
            cwd=work,
            env={"PATH": os.defpath, "HOME": str(work), "TMPDIR": str(work), "PYTHONIOENCODING": "utf-8"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        async with asyncio.timeout(limits.seconds):
            await process.wait()
    except TimeoutError:
        late = True
    finally:
        await _end(process)
        status = await process.wait()
    texts = [_read(output, limits.output) for output in outputs]
    status = SIGNALLED - status if SIGNALLED < status <= SIGNALLED + signal.NSIG else status
    return Ended(texts[0], texts[1], status, late, int((time.monotonic() - began) * 1000))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program in front and all that is behind it; what is left of its group, where it cannot do that itself."""
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(ENDING):
            await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(output: Path, limit: int) -> str:
    with output.open("rb") as file:
        text = file.read(limit).decode("utf-8", "replace")
        left = file.seek(0, os.SEEK_END) - limit
    return f"{text}\n[{left} bytes left out]" if left > 0 else text
