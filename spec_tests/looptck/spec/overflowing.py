"""The refusal of a request that is longer than the context of the model."""

from __future__ import annotations

from looptck.provider.faults import HttpError


def too_long(wire: str) -> HttpError:
    """The refusal of a request that is too long for the model, in the service's own words."""
    if wire == "anthropic-messages":
        return HttpError(400, message="prompt is too long: 212345 tokens > 200000 maximum")
    message = (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 132345 tokens. "
        "Please reduce the length of the messages."
    )
    return HttpError(400, message=message, code="context_length_exceeded")
