"""A bench for drivers: names of the broken drivers, and a small selection of the suite that runs on any driver."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from looptck.bench.bench import Patience
from looptck.commands.pytest_run import run_suite
from looptck.suite.options import Options
from looptck.suite.selection import Selection

HERE = Path(__file__).parent
PLAIN = "openai-chat/plain/sync"
ENOUGH = 20.0
"""Seconds allowed for a run that ends by itself; far more than any machine needs."""
SCRIPTED = ("one-call", "empty-object")
"""The cases of ``call-runs-its-tool-once``, without their recordings."""
SHORT = 4.0
"""Seconds after which a hanging run is abandoned: enough for all other work on a slow machine."""


def process(fault: str = "Driver", only: str = "") -> str:
    """The driver process of ``fake_driver`` with a fault, in one case only or in all."""
    words = [sys.executable, "-S", str(HERE / "fake_driver.py"), fault, only]
    return "cmd:" + shlex.join(word for word in words if word)


def in_process(fault: str) -> str:
    """The driver of ``in_process_drivers`` with a fault."""
    return f"python:meta.drivers.in_process_drivers:{fault}"


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a run of the suite: exit status, results as JSON, and printed text."""

    status: int
    json: dict[str, Any]
    printed: str

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdicts, by case; several of one case joined."""
        found: dict[str, list[str]] = defaultdict(list)
        for result in self.json["results"]:
            if result["verdict"] != "divergence":
                found[result["case"]].append(result["verdict"])
        return {case: " ".join(sorted(set(verdicts))) for case, verdicts in found.items()}

    @property
    def counts(self) -> dict[str, int]:
        """The number of results for each verdict, without zeros."""
        return {verdict: count for verdict, count in self.json["summary"].items() if count}

    def reason(self, case: str) -> str:
        """The reason in the first result of a case."""
        reason: str = next(result["reason"] for result in self.json["results"] if result["case"] == case)
        return reason

    @property
    def late(self) -> list[tuple[str, str]]:
        """The driver's faults outside of runs, each with kind and detail."""
        return [(fault["kind"], fault["detail"]) for fault in self.json["driver_faults"]]


def judged(
    driver: str | None,
    *requirements: str,
    cells: tuple[str, ...] = (PLAIN,),
    cases: tuple[str, ...] = (),
    profiles: tuple[str, ...] = (),
    timeout: float = ENOUGH,
    known: Path | None = None,
    junit: Path | None = None,
    preflight: bool = False,
) -> Report:
    """Run the suite on a driver, with few examples, and by default without the trial run before the checks."""
    selection = Selection(profiles=profiles, requirements=requirements, cells=cells, cases=cases)
    options = Options(driver, selection, known, Patience(timeout, min(timeout, 5.0)), examples=5)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        results = Path(folder) / "results.json"
        status = run_suite(options, json_file=results, junit=junit, preflight=preflight)
        parsed = json.loads(results.read_text("utf-8")) if results.exists() else {}
    return Report(status, parsed, printed.getvalue())
