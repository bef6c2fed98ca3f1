"""What is told of a fork that has stopped itself and was killed for it."""

from __future__ import annotations

import os
import signal

from looptck.guard.endings import STOPPED_ITSELF
from looptck.guard.forking import forked


def test_what_stopped_itself_is_told_so_when_it_has_ended() -> None:
    """Looks at a fork that was killed because it stays stopped do not forget why."""
    fork = forked(lambda _: os.kill(os.getpid(), signal.SIGSTOP))
    try:
        while fork.process.is_alive():
            fork.look()
        fork.look()

        assert STOPPED_ITSELF == fork.ending
    finally:
        fork.end()
