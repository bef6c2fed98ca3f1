"""Problems: what a service would refuse in a request."""

from __future__ import annotations

from dataclasses import field

from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule that a request breaks, with the provider's error."""

    rule: str
    """The id of the rule, for example ``every-call-is-answered``."""
    pointer: str
    """A JSON pointer into the request body; it may name a member that is missing. Empty: the whole request."""
    message: str
    status: int = 400
    code: str | None = None
    """The provider's own error code, if it has one for this."""
    state_missing: bool = False
    """The request is valid, but the service has lost, or never had, the state that it relies on; the loop may resend it
    in full."""
    hint: str = field(default="", compare=False)
    """What reports add to the service's message; empty: nothing."""
    unasked: bool = field(default=False, compare=False)
    """It is about reasoning whose content no request has asked for, of which another requirement tells."""

    @property
    def refusal(self) -> str:
        """That a request is refused, and where."""
        return f"is refused{self.place.removeprefix(',')}"

    @property
    def place(self) -> str:
        """The words for the place; empty if it is the whole request."""
        return f", at {self.pointer}" if self.pointer else ""

    @property
    def reported(self) -> str:
        """The message for a report: the service's, then looptck's hint in brackets."""
        return f"{self.message} [{self.hint}]" if self.hint else self.message
