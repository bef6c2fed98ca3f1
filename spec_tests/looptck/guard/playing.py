"""The guarded process: its own standard output, its journal, and its end.

Without a guard, as under pytest, the same functions do nothing, and the output is ``sys.stdout``.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from looptck.guard import interrupts
from looptck.guard.descendants import kill_descendants
from looptck.guard.folder import COULD_NOT_RUN, FOLDER, LIFELINE, Folder


@dataclass(slots=True)
class _Guarded:
    """What this process knows of its guard."""

    folder: Folder | None = None
    """None: there is no guard."""
    output: TextIO | None = None
    has_noted: bool = False
    is_muted: bool = False


_THIS = _Guarded()


def begin() -> bool:
    """Take up the guard's offer, once and first of all; whether there is a guard.

    Foreign code may print to, close or replace ``sys.stdout`` and descriptor 1: the report goes to a descriptor of its
    own, and what else is written to standard output goes to standard error.
    """
    path, lifeline = os.environ.pop(FOLDER, None), os.environ.pop(LIFELINE, None)
    if path is None:
        return False
    _THIS.folder = Folder(Path(path))
    tempfile.tempdir = str(_THIS.folder.files)
    encoding = sys.stdout.encoding
    _THIS.output = os.fdopen(os.dup(1), "w", encoding=encoding, errors="backslashreplace")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if threading.current_thread() is threading.main_thread():
        interrupts.once()  # a terminal, or somebody, may tell both processes, and the guard passes on what it is told
        for name in ("SIGTTIN", "SIGTTOU"):  # a loop that asks the terminal, for a key, would be stopped for ever
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
    if lifeline is not None and sys.platform != "win32":
        os.set_inheritable(int(lifeline), False)
        threading.Thread(target=_follow, args=(int(lifeline),), name="looptck guard", daemon=True).start()
    return True


def output() -> TextIO:
    """Where a command writes what a person reads."""
    return sys.stdout if _THIS.output is None else _THIS.output


def is_read() -> bool:
    """Whether somebody may still read the output: a pipe can be closed at its other end."""
    try:
        output().flush()
    except BrokenPipeError:
        return False
    except OSError:
        pass
    return True


def mute() -> None:
    """Let the output go nowhere: what is left of it could not be written either."""
    _THIS.is_muted = True
    nothing = open(os.devnull, "w")  # noqa: SIM115, PTH123  for as long as the process lives
    if _THIS.output is None:
        sys.stdout = nothing
    else:
        os.dup2(nothing.fileno(), _THIS.output.fileno())


def is_muted() -> bool:
    """Whether what was to be read has gone nowhere."""
    return _THIS.is_muted


def note(kind: str, **values: Any) -> None:
    """Add a line to the journal, from which the guard reports if this process does not live to do so."""
    _THIS.has_noted = True
    if _THIS.folder is not None:
        _THIS.folder.note(kind, **values)


def has_noted() -> bool:
    """Whether the command has come so far that only it can say that it is finished."""
    return _THIS.has_noted


def leave() -> None:
    """Let only the process that this is a fork of have to do with the guard."""
    _THIS.folder = _THIS.output = None


def finish(status: int) -> None:
    """Say that the command has done all that it had to do, and with which exit status it ends."""
    if _THIS.output is not None:
        _THIS.output.flush()
    if _THIS.folder is not None:
        _THIS.folder.finish(status)


def _follow(lifeline: int) -> None:
    """End this process, and all that it has started, when the guard has ended."""
    while os.read(lifeline, 1):
        pass
    kill_descendants(os.getpid())
    if _THIS.folder is not None:
        shutil.rmtree(_THIS.folder.path, ignore_errors=True)
    os._exit(COULD_NOT_RUN)
