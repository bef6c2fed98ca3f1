"""What a person who runs the suite on a faulty loop is told first."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from looptck.values.verdicts import AGAINST
from tools.naming.strange import Fault


@dataclass(frozen=True, slots=True)
class Heard:
    """What a run in the cell of a fault came to."""

    fault: Fault
    causes: tuple[tuple[str, str], ...] = ()
    """The requirement and the first reason of each cause, in the order of the report."""
    against: frozenset[str] = frozenset()
    """The requirements that count against the loop."""
    trouble: str = ""
    """Why there are no results."""

    @property
    def is_found(self) -> bool:
        """Whether a requirement that names the fault counts against the loop."""
        return bool(self.fault.rows & self.against)

    @property
    def is_named(self) -> bool:
        """Whether the first line of the report is of a requirement that names the fault."""
        return bool(self.causes) and self.causes[0][0] in self.fault.rows

    @property
    def place(self) -> int | None:
        """At which of the causes the fault is named, counted from 1; None: at none."""
        places = [n for n, (row, _) in enumerate(self.causes, 1) if row in self.fault.rows]
        return places[0] if places else None


def heard(fault: Fault, seconds: float) -> Heard:
    """Run the suite as a person would, in the cell of the fault, for at most so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        words = ["run", "-q", "-j", "1", "--driver", fault.driver, "--cell", fault.cell, "--json", str(results)]
        command = [sys.executable, "-m", "looptck.cli", *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            return Heard(fault, trouble=f"not done in {seconds:g} s")
        if not results.exists():
            return Heard(fault, trouble=(done.stderr or done.stdout).strip()[-300:])
        return _read(fault, json.loads(results.read_text(encoding="utf-8")))


def _read(fault: Fault, results: dict[str, Any]) -> Heard:
    causes = tuple((cause["requirement"], cause["because"]) for cause in results["causes"])
    against = frozenset(one["requirement"] for one in results["results"] if one["verdict"] in AGAINST)
    return Heard(fault, causes, against)
