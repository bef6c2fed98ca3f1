"""What a driver can do wrong. A driver's fault is never scored as a fault of the implementation behind it."""

from __future__ import annotations

from typing import Literal

from looptck.values.printable import printable

Kind = Literal[
    "cannot-start", "crashed", "hung", "rubbish", "half-line", "bad-message", "answered-twice", "unknown-id", "given-up"
]

EXPLANATIONS: dict[Kind, str] = {
    "cannot-start": "the driver could not be started",
    "crashed": "the driver ended in the middle of its work",
    "hung": "the driver gave no answer in time",
    "rubbish": "the driver wrote a line to standard output that is no protocol message",
    "half-line": "the driver ended in the middle of a line",
    "bad-message": "the driver sent a message that breaks the protocol's schema",
    "answered-twice": "the driver finished the same run twice",
    "unknown-id": "the driver spoke of a run that it was never given",
    "given-up": "the driver failed too often in a row and is not started again",
}


class DriverFault(Exception):
    """One thing that a driver did wrong.

    Attributes:
        kind: which of the nine it is.
        detail: what exactly happened: the line, the exit status, the traceback's last line.
        stderr: the end of what the driver wrote to standard error.
        run: the id of the run it belongs to; None where it belongs to no run.
    """

    def __init__(self, kind: Kind, detail: str, *, stderr: str = "", run: str | None = None) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = printable(detail)
        self.stderr = printable(stderr)
        self.run = run

    def __str__(self) -> str:
        told = f"driver: {self.kind}: {EXPLANATIONS[self.kind]}: {self.detail}"
        return f"{told}\nits standard error ends:\n{self.stderr.rstrip()}" if self.stderr.strip() else told
