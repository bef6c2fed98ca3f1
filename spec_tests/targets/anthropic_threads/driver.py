"""The driver of Anthropic's tool runner as it comes: over a message thread, so that requests carry what is new."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from anthropic_runner import RunnerDriver


class Driver(RunnerDriver):
    """Runs the kit's cases on the tool runner with its defaults."""

    name = "anthropic tool runner"
    threads = True
