"""How processes end, in words."""

from __future__ import annotations

import signal


def ending(status: int) -> str:
    """The end of a process with this exit status; if that is negative, by the signal of that number."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


STOPPED_ITSELF = "stopped itself"
"""The end of a process that was killed because it had stopped itself, as by SIGSTOP."""
