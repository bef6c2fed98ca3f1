"""Runs of a faulty loop in one, in several processes, and in parts: a few requirements in one cell, as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROWS = (
    "prompt-reaches-the-model",
    "offered-schema-is-the-declared-one",
    "call-runs-its-tool-once",
    "no-request-is-refused",
    "structured-result-reaches-the-model",
    "recorded-traffic-is-read-right",
)
"""Declared cases, recordings, tests with parameters, a property: one unit or many for each."""
CELL = "openai-chat/plain/sync"
FAULTY = f"python:{Path(__file__).parents[1] / 'strangers' / 'python' / 'eight_faults.py'}:Driver"
COMMAND = (sys.executable, "-m", "looptck.cli")
ENDERS = Path(__file__).parents[1] / "guard" / "enders.py"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left."""

    status: int
    printed: str
    text: str
    """Of the file of results, if there is one."""

    @property
    def results(self) -> Any:
        """The results as JSON."""
        return json.loads(self.text)


def played(
    file: Path,
    *further: str,
    driver: str = FAULTY,
    rows: tuple[str, ...] = ROWS,
    cell: str = CELL,
) -> Ran:
    """A run of these requirements, with these further words, which writes its results to a file."""
    return _ran(words(file, *further, driver=driver, rows=rows, cell=cell), file)


def words(file: Path, *further: str, driver: str = FAULTY, rows: tuple[str, ...] = ROWS, cell: str = CELL) -> list[str]:
    """The command line of such a run."""
    chosen = [word for row in rows for word in ("--requirement", row)]
    return [*COMMAND, "run", "-q", "--driver", driver, *chosen, "--cell", cell, *further, "--json", str(file)]


def command(*further: str, file: Path) -> Ran:
    """Any command of looptck that writes results to a file."""
    return _ran([*COMMAND, *further, "--json", str(file)], file)


def _ran(line: list[str], file: Path) -> Ran:
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300, env=environ())
    sys.stderr.write(done.stderr)  # pytest shows it beside a failure
    return left(done.returncode, done.stdout, file)


def environ() -> dict[str, str]:
    """The environment of a command."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def left(status: int, printed: str, file: Path) -> Ran:
    """What a command left."""
    return Ran(status, printed, file.read_text("utf-8") if file.exists() else "")
