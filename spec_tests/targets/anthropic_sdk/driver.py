"""The driver of Anthropic's tool runner without message threads: every request carries the whole history."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from anthropic_runner import RunnerDriver


class Driver(RunnerDriver):
    """Runs the kit's cases on the tool runner with ``thread=False``."""

    name = "anthropic tool runner without threads"
    threads = False
