"""What a judge finds wrong with a request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule that a request breaks, told as the provider would tell it."""

    rule: str
    """The slug of the rule, for example ``every-call-is-answered``."""
    pointer: str
    """A JSON pointer into the request body; it may name a member that is missing."""
    message: str
    status: int = 400
    code: str | None = None
    """The provider's own error code, if it has one for this."""
    forgotten: bool = False
    """Nothing is wrong with the request but that it leans on a memory which the service has not, or no longer: it may
    come again in full."""
