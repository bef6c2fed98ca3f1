"""A reply that is sent while it comes from elsewhere."""

from __future__ import annotations

from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply

GRACE = 10.0
"""Seconds that the server waits for the next part of a reply beyond the time in which the whole has to come."""


class GrowingReply:
    """A reply whose parts are sent as they are added: until its end a closed gate is the last of them."""

    def __init__(self, patience: float) -> None:
        self._gate = Gate("the next part")
        self.http = HttpReply([self._gate], patience=patience + GRACE)

    def add(self, part: bytes) -> None:
        """Send a part."""
        opened, self._gate = self._gate, Gate("the next part")
        self.http.parts += [part, self._gate]
        opened.open()

    def end(self, last: bytes = b"", *, then_close: bool = False) -> None:
        """Send the last part."""
        self.http.parts.append(last)
        self.http.then_close = then_close
        self._gate.open()
