"""Code execution: a Python program for each call, with the variables that earlier programs of the session have set."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.tools.process import Ended, ProcessLimits, execute
from looptck_reference.server.tools.workdir import Snapshot, Workshop, listed, new_files
from looptck_reference.server.values import Called, Produced, Result

__all__ = ["PythonLimits", "PythonRunner"]

PROGRAM = """\
import importlib, os, pickle, sys, types

source, kept = sys.argv[1:]
names = {"__name__": "__main__", "__builtins__": __builtins__}


def come():
    with open(kept, "rb") as file:
        for name, (is_module, value) in pickle.load(file).items():
            try:
                names[name] = importlib.import_module(value) if is_module else pickle.loads(value)
            except Exception:
                pass


def go():
    state = {}
    for name, value in names.items():
        try:
            if isinstance(value, types.ModuleType):
                state[name] = True, value.__name__
            elif name not in ("__name__", "__builtins__"):
                state[name] = False, pickle.dumps(value)
        except Exception:
            pass
    try:
        with open(kept + ".new", "wb") as file:
            pickle.dump(state, file)
        os.replace(kept + ".new", kept)
    except OSError:
        pass


if os.path.getsize(kept):
    come()
sys.argv[:] = [source]
try:
    with open(source, "rb") as file:
        exec(compile(file.read(), source, "exec"), names)
finally:
    go()
"""
"""Runs a file with the variables that are stored in another file, and stores them again.

Modules are stored by name and values are pickled; functions and classes are lost when their program ends.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonLimits(ProcessLimits):
    """Additional limits. `kept`: bytes of stored variables. `files`: the number of files captured from a call.

    `file` also limits the total size of all captured files.
    """

    kept: int = 1024 * 1024
    files: int = 64


class PythonRunner:
    """Runs programs in workshops."""

    def __init__(self, limits: PythonLimits, dialect: ServerDialect) -> None:
        self._limits = limits
        self._dialect = dialect

    async def run(self, called: Called, workshop: Workshop) -> Result:
        """Run the argument `code`; capture the files that `outputs` or the request name, or all new files."""
        arguments = called.arguments if isinstance(called.arguments, dict) else {}
        code, outputs = arguments.get("code"), arguments.get("outputs", [])
        if not isinstance(code, str):
            return _result({"exception": "Invalid arguments: code is no string"})
        if not isinstance(outputs, list) or not all(isinstance(name, str) for name in outputs):
            return _result({"exception": "Invalid arguments: outputs is no array of strings"})
        work = await asyncio.to_thread(workshop.open)
        before = await asyncio.to_thread(Snapshot.of, work)
        ended = await self._execute(code, work, workshop)
        new = await asyncio.to_thread(new_files, work, before)
        outputs = [*outputs, *new] if self._dialect.captures == "discovered" else outputs
        wanted = [*outputs, *(name for name in new if name in workshop.declared)]
        wanted = wanted[: self._limits.files]
        captured, missing = await asyncio.to_thread(listed, work, wanted, self._limits.file)
        members = {
            "stdout": ended.stdout,
            "stderr": ended.stderr,
            "exception": _exception(ended, self._limits),
            "working_directory": str(work),
            "execution_time_ms": ended.milliseconds,
        }
        notes = [f"output {name} was not captured: {reason}" for name, reason in missing]
        return _result(members, captured, notes)

    async def _execute(self, code: str, work: Path, workshop: Workshop) -> Ended:
        source, kept = work.parent / "main.py", work.parent / "kept"
        source.write_text(code, encoding="utf-8", errors="surrogatepass")
        kept.write_bytes(workshop.python)
        command = [sys.executable, "-I", "-B", "-c", PROGRAM, str(source), str(kept)]
        ended = await execute(command, work, self._limits)
        if kept.is_file() and kept.stat().st_size <= self._limits.kept:
            workshop.python = kept.read_bytes()
        return ended


def _exception(ended: Ended, limits: ProcessLimits) -> str:
    """The last line of the traceback, or the name of a signal; "" for a program that ended normally."""
    if ended.late:
        return f"timed out after {limits.seconds:g} s"
    if ended.status < 0:
        return f"killed by {signal.Signals(-ended.status).name}"
    lines = ended.stderr.strip().splitlines()
    return "" if not ended.status else lines[-1] if lines else f"exit status {ended.status}"


def _result(members: Mapping[str, Any], produced: Sequence[Produced] = (), notes: Sequence[str] = ()) -> Result:
    """The result; model and plain response get the same text."""
    words = [(name, members.get(name)) for name in ("stdout", "stderr", "exception")]
    text = "\n".join([f"{name}: {value}" for name, value in words if value] + list(notes))
    return Result(text, members, produced=tuple(produced))
