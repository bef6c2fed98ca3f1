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

LIMITED = """\
import os, resource, sys
seconds, memory, file, *command = sys.argv[1:]
for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file)):
    resource.setrlimit(what, (int(most), int(most)))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.execv(command[0], command)
"""
"""Sets the limits and then executes the program, so that no Python code runs between fork and exec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """Seconds, and bytes.

    output: of stdout, and of stderr, in the result; the rest is left out.
    file: of each written file, and of stdout and stderr.
    """

    seconds: float = 30
    memory: int = 512 * 1024 * 1024
    output: int = 64 * 1024
    file: int = 32 * 1024 * 1024


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

    The program and its process group have ended when this function returns, in any case. Processes that have left the
    group may go on and are not waited for; pipes would make this function wait for them.
    """
    began, late = time.monotonic(), False
    bounds = [str(int(limits.seconds) + 1), str(limits.memory), str(limits.file)]
    outputs = [work.parent / name for name in ("stdout", "stderr")]
    with outputs[0].open("wb") as stdout, outputs[1].open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", LIMITED, *bounds, *command),
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
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = await process.wait()
    texts = [_read(output, limits.output) for output in outputs]
    return Ended(texts[0], texts[1], status, late, int((time.monotonic() - began) * 1000))


def _read(output: Path, limit: int) -> str:
    with output.open("rb") as file:
        text = file.read(limit).decode("utf-8", "replace")
        left = file.seek(0, os.SEEK_END) - limit
    return f"{text}\n[{left} bytes left out]" if left > 0 else text
