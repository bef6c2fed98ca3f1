"""The driver of Anthropic's tool runner at several ages; of those that know message threads, without them.

So the ages are told apart by what their runners make of a turn, and by nothing in what they send of a conversation.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from anthropic_runner import RunnerDriver


class Driver(RunnerDriver):
    """Runs the kit's cases on the tool runner of the version that is installed."""

    name = "anthropic tool runner without threads"
    threads = False
