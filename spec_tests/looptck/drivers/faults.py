"""Driver faults. A driver fault is never counted as a failure of the implementation behind the driver."""

from __future__ import annotations

import traceback
from typing import Literal

from looptck.values.outcome import Failed
from looptck.values.printable import printable

Kind = Literal[
    "cannot-start", "crashed", "hung", "rubbish", "half-line", "bad-message", "answered-twice", "unknown-id", "given-up"
]

EXPLANATIONS: dict[Kind, str] = {
    "cannot-start": "the driver could not be started",
    "crashed": "the driver ended in the middle of its work",
    "hung": "the driver did not answer in time",
    "rubbish": "the driver wrote a line to standard output that is not a protocol message",
    "half-line": "a line of the driver has no end",
    "bad-message": "the driver sent a message that breaks the protocol",
    "answered-twice": "the driver finished the same run twice",
    "unknown-id": "the driver sent a message for an unknown run",
    "given-up": "the driver failed too many times in a row and is not started again",
}

STILL_CALLING = "the loop still called its caller back when its run was over, or the driver ended it too early"
"""Why a chunk or an event may come after the end of its run."""


def last_line(error: BaseException) -> str:
    """The last line of an error's traceback: its class and its message."""
    return traceback.format_exception_only(error)[-1].strip()


class DriverFault(Exception):
    """One fault of a driver.

    Attributes:
        kind: which of the nine it is.
        detail: what exactly happened: the line, the exit status, the traceback's last line.
        stderr: the end of what the driver wrote to standard error.
        run: the id of the run; None if the fault belongs to no run.
        mend: what mends it, if it is a usual mistake; empty if it is not.
        uncaught: the error that ended the driver's process, if it was one that no caller can catch.
    """

    def __init__(
        self,
        kind: Kind,
        detail: str,
        *,
        stderr: str = "",
        run: str | None = None,
        mend: str = "",
        uncaught: Failed | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = printable(detail)
        self.stderr = printable(stderr)
        self.run = run
        self.mend = mend
        self.uncaught = uncaught

    def __str__(self) -> str:
        message = f"driver: {self.kind}: {EXPLANATIONS[self.kind]}: {self.detail}"
        return f"{message}\nits standard error ends:\n{self.stderr.rstrip()}" if self.stderr.strip() else message

    def in_full(self) -> str:
        """What is wrong, and in its first line what mends it."""
        first, *rest = str(self).split("\n")
        return "\n".join([f"{first}; {self.mend}" if self.mend else first, *rest])
