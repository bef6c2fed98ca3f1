"""Waits that an interrupt ends: a signal that another thread has taken wakes no wait of the main thread."""

from __future__ import annotations

from concurrent.futures import Future, wait
from time import monotonic
from typing import Any

LOOK = 0.5
"""The longest single wait, in seconds; Python raises `KeyboardInterrupt` between two of them."""


def done_within(seconds: float, future: Future[Any]) -> bool:
    """Wait for a result or an error, at most these seconds; whether it has come."""
    until = monotonic() + seconds
    while True:
        left = until - monotonic()
        if wait([future], max(min(left, LOOK), 0.0)).done:
            return True
        if left <= LOOK:
            return False
