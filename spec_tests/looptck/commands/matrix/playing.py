"""Playing: one target from its installation to what is kept of it; nothing that it does ends the matrix."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import perf_counter
from typing import Any

from looptck.catalogue.content import content
from looptck.commands.matrix.environments import Environment, NotInstalled
from looptck.commands.matrix.kept import Kept, Made
from looptck.commands.matrix.targets import Target
from looptck.values.frozen import dataclass

LONGEST = 1000
"""The most characters of what a run has printed that are looked at."""
LAST_LINES = 6
"""How many of the last lines of a run that came to nothing are kept."""


class Interrupted(Exception):
    """Somebody has stopped the matrix."""


@dataclass(frozen=True, slots=True)
class Playing:
    """How targets are played."""

    environments: Path
    results: Path
    """The folder of what is kept."""
    options: Sequence[str]
    """Options of ``looptck run`` for every target."""
    longest: float
    """Seconds after which a run is ended."""
    root: Path
    """The folder that paths in results are relative to."""
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    """The runs that are under way."""
    stopped: Event = field(default_factory=Event)
    """Set when nothing more is to be played and kept."""

    def stop(self) -> None:
        """End what is under way; none of it is kept."""
        self.stopped.set()
        for child in [*self.children]:
            child.terminate()

    def made_from(self, target: Target) -> Made:
        """What the results of a target would be made from now."""
        return Made(target.name, target.kind, target.digest, content(), tuple(self.options))

    def play(self, target: Target) -> Kept:
        """Install a target, run the suite on it, and keep what came of it."""
        if self.stopped.is_set():
            raise Interrupted
        began = perf_counter()
        environment = Environment(target, self.environments)
        made = self.made_from(target)
        try:
            environment.install(quiet=True)
            run, why_not = self._run(environment)
        except NotInstalled as error:
            run, why_not = None, f"It cannot be installed: {error}"
        seconds = round(perf_counter() - began, 1)
        one = Kept(made, seconds, run, None if why_not is None else self._relative(why_not))
        one.write(self.results)
        return one

    def _run(self, environment: Environment) -> tuple[Mapping[str, Any] | None, str | None]:
        """The JSON of a run, or why there is none."""
        environment.folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="looptck-matrix-") as folder:
            results, log = Path(folder) / "results.json", environment.folder / "matrix.log"
            words = [*environment.words("run"), "-q", "--workers", "1", "--json", str(results), *self.options]
            with log.open("wb") as file:
                child = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=os.environ | environment.variables,
                )
                self.children.append(child)
                try:
                    child.wait(self.longest)
                except subprocess.TimeoutExpired:
                    child.terminate()  # looptck then writes the verdicts that there are
                    child.wait()
                finally:
                    self.children.remove(child)
            if self.stopped.is_set():
                raise Interrupted
            said = log.read_text(encoding="utf-8", errors="replace")
            if not results.is_file() or not (text := results.read_text(encoding="utf-8").strip()):
                return None, f"The suite could not run: {_last(said)}"
        run: dict[str, Any] = json.loads(self._relative(text))
        if not run["results"]:
            return None, f"The suite came to no verdict: {_last(said)}"
        for cause in run.get("causes", ()):
            cause["again"] = _repeatable(cause["again"], environment.target)
        return run, None

    def _relative(self, text: str) -> str:
        """A text without the paths of this machine."""
        return text.replace(f"{self.root}/", "").replace(str(Path.home()), "~")


def _last(said: str) -> str:
    """The last lines that a run has printed."""
    lines = [line.strip() for line in said[-LONGEST:].splitlines() if line.strip()]
    return " ".join(lines[-LAST_LINES:]) or "it said nothing"


def _repeatable(again: str, target: Target) -> str:
    """The command that repeats a failure in any checkout."""
    words = shlex.split(again)
    at = words.index("--driver")
    return shlex.join(["looptck", "target", target.name, *words[2:at], *words[at + 2 :]])
