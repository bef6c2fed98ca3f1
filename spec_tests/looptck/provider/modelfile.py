"""Model files: a script as a tiny model, for servers that load a file instead of calling a base URL.

A separate process writes the file, since that needs packages that looptck does not use otherwise.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from looptck.drivers import DriverFault, Servers
from looptck.provider.script import Script, Step
from looptck.values.framing import DEFAULT
from looptck.values.plain import plain
from looptck.values.turns import Call, Piece, Text, Turn
from looptck.values.verdicts import NotApplicable

WRITER = (sys.executable, "-P", "-m", "looptck.commands.recording.scripted.write")
MOST = 20_000
"""The most characters of a turn: each word is a token, which takes a server some milliseconds."""


class ModelFiles:
    """Writes model files into a folder, each script once.

    Raises:
        DriverFault: the packages are not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path | str] = {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        self._writer = subprocess.Popen(  # noqa: S603  our own command
            WRITER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )

    def write(self, turns: Sequence[Turn]) -> Path:
        """The file of a model that produces these turns.

        Raises:
            NotApplicable: no model file can produce one of them.
            DriverFault: the file cannot be written.
        """
        written = json.dumps([[_as_json(piece) for piece in turn.pieces] for turn in turns])
        if written not in self._files:
            path = self._folder / f"model-{len(self._files)}" / "scripted.gguf"
            path.parent.mkdir(exist_ok=True)
            self._files[written] = self._written(written, path) or path
        found = self._files[written]
        if isinstance(found, str):
            raise NotApplicable(f"no model file can produce this script: {found}")
        return found

    def close(self) -> None:
        """End the writer."""
        with contextlib.suppress(BrokenPipeError):
            self._writer.communicate()
        self._errors.close()

    def _written(self, written: str, path: Path) -> str:
        """Write the turns; returns why that is impossible, or an empty text."""
        assert self._writer.stdin is not None
        assert self._writer.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, as its output shows
            self._writer.stdin.write(f'{{"path": {json.dumps(str(path))}, "turns": {written}}}\n')
            self._writer.stdin.flush()
        try:
            return str(json.loads(self._writer.stdout.readline())["wrong"])
        except ValueError:
            status = self._writer.wait()
            self._errors.seek(0)
            why = self._errors.read().decode(errors="replace").strip()[-500:] or f"the writer ended with {status}"
            raise DriverFault("cannot-start", f"the server's model file cannot be written: {why}") from None


class ScriptedModel:
    """The model file of an implementation's servers: it holds one script at a time."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self._files = ModelFiles(folder)
        self._servers = servers
        self._loaded: Path | None = None
        self._sessions: dict[str, Path] = {}
        """The model file with which each session began, by the session id."""

    def load(self, script: Script, session: str | None = None, *, alone: bool = True) -> tuple[Turn, ...]:
        """Load the model file of a script unless it is loaded; returns the script's turns.

        Raises:
            NotApplicable: no model file can produce the script, or a current run needs the loaded one.
            DriverFault: the file cannot be written or loaded.
        """
        turns = turns_of(script)
        path = self._files.write(turns)
        if path != self._loaded:
            if not alone:
                raise NotApplicable("the server's model is a file, which holds one script at a time")
            if session in self._sessions:
                raise NotApplicable("the server was restarted for another script, and has lost the session")
            self._servers.load(path)
            self._loaded = path
        if session is not None:
            self._sessions[session] = path
        return turns

    def unload(self) -> None:
        """Forget the loaded file, so that the next script restarts the servers, whatever they are doing."""
        self._loaded = None

    def close(self) -> None:
        self._files.close()


def turns_of(script: Script) -> tuple[Turn, ...]:
    """The turns of a script; an endless script up to its cap.

    Raises:
        NotApplicable: the script contains something that a model cannot produce.
    """
    last = script.cap if script.endless else len(script.steps)
    return tuple(_said(script.step(n), n) for n in range(1, last + 1))


def _said(step: Step | None, n: int) -> Turn:
    assert step is not None
    if step.turn is None or step.fault is not None or step.recorded is not None:
        raise NotApplicable(f"the server's model is a file, which cannot play the fault of turn {n}")
    if step.framing != DEFAULT or step.holds or step.before is not None or step.forgets is not None:
        raise NotApplicable(f"the server's model is a file, so looptck cannot frame or hold the stream of turn {n}")
    if step.turn.stopped != Turn(step.turn.pieces).stopped:
        raise NotApplicable(f"the server's model is a file, which cannot stop for {step.turn.stop} as turn {n} does")
    if sum(map(len, map(str, step.turn.pieces))) > MOST:
        raise NotApplicable(f"the server's model is a file, and turn {n} is too long for it")
    return step.turn


def _as_json(piece: Piece) -> dict[str, Any]:
    match piece:
        case Text(text):
            return {"text": text}
        case Call(tool, arguments, custom=False):
            return {"tool": tool, "arguments": arguments}
        case _:
            raise NotApplicable(
                f"the server's model is a file, which can produce texts and calls, but not {plain(piece, 120)}"
            )
