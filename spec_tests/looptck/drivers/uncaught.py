"""Errors that no caller can catch and that end a process: what Node.js writes of them before it ends."""

from __future__ import annotations

import re

from looptck.values.outcome import Failed

_ENDED = re.compile(r"^Node\.js v\d[^\n]*\s*\Z", re.MULTILINE)
"""The last line of a process that ended so."""
_ERROR = re.compile(r"^(?:Uncaught )?(?P<type>[A-Z][\w.$]*)(?: \[\w+\])?: (?P<message>[^\n]*)$", re.MULTILINE)


def of_stderr(status: int | None, stderr: str) -> Failed | None:
    """The error that ended a process with this status; None if it ended otherwise."""
    if not status or _ENDED.search(stderr.rstrip()) is None:
        return None
    said = [*_ERROR.finditer(stderr)]
    if not said:
        return Failed("other", "Error", "an error that no caller can catch has ended the process", escaped=True)
    return Failed("other", said[-1]["type"], said[-1]["message"], escaped=True)
