"""One run of the suite on a loop in a folder, by an installed kit, in a process of its own with limits."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from looptck.values.verdicts import AGAINST
from tools.mutation.trials import MEMORY
from tools.outside.loop import Loop

CLEAN, FINDINGS = 0, 1


@dataclass(frozen=True, slots=True)
class Heard:
    """What a run came to."""

    causes: tuple[tuple[str, str], ...] = ()
    """The requirement and the first reason of each cause, in the order of the report."""
    rows: tuple[str, ...] = ()
    """The requirements that count against the loop."""
    trouble: str = ""
    """Why the run says nothing of the loop."""

    @property
    def is_clean(self) -> bool:
        return not (self.rows or self.trouble)


@dataclass(frozen=True, slots=True)
class Kit:
    """The kit that plays, and how it plays."""

    command: Sequence[str]
    """The command of its installation: that of a copy, so that no edit reaches it."""
    seconds: float
    """What one run may take."""
    more: Sequence[str] = ()
    """Further words of ``looptck run``."""

    def heard(self, loop: Loop, changed: Mapping[str, str], folder: Path) -> Heard:
        """Play a copy of the loop with these modules changed, in this folder, which must not be there yet."""
        driver = loop.copied(folder, changed)
        with tempfile.TemporaryFile("w+") as told:
            words = ["run", "-q", "-j", "1", "--timeout", "4", "--json", "looptck-results.json", *self.more]
            process = subprocess.Popen(
                [*self.command, *words, "--driver", f"python:{driver.name}:Driver"],
                cwd=folder,
                env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if hasattr(resource, "prlimit"):  # on Linux
                resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
            try:
                status = process.wait(self.seconds)
            except subprocess.TimeoutExpired:
                return Heard(trouble=f"the run had not ended after {self.seconds:g} s")
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            told.seek(0)
            results = folder / "looptck-results.json"
            if status not in (CLEAN, FINDINGS) or not results.exists():
                return Heard(trouble=told.read().strip()[-400:] or f"the run ended with status {status}")
        return _read(json.loads(results.read_text(encoding="utf-8")))


def _read(results: dict[str, Any]) -> Heard:
    rows = {one["requirement"]: None for one in results["results"] if one["verdict"] in AGAINST}
    causes = tuple((cause["requirement"], cause["because"]) for cause in results["causes"])
    errors = [one["reason"] for one in results["results"] if one["verdict"] == "error"]
    return Heard(causes, tuple(rows), errors[0] if errors and not rows else "")
