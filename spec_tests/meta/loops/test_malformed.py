"""Requests that are no conversations are findings, and neither errors of the kit nor the end of its run."""

from __future__ import annotations

import pytest

from meta.loops import malformed
from meta.loops.judging import against, judged


@pytest.mark.parametrize(
    ("loop", "cell"),
    [
        (malformed.ListOfRequests, "openai-chat/plain/sync"),
        (malformed.MessagesAsTexts, "anthropic-messages/plain/sync"),
        (malformed.HalfARequest, "openai-responses/plain/sync"),
    ],
)
def test_each_check_has_a_verdict_on_requests_that_are_none(loop: type, cell: str) -> None:
    """The suite is played to its end, as `judged` asserts without an error, and the refusal is what fails."""
    found = against(judged(loop, cell))

    assert "refused" in found["no-request-is-refused"]
    assert "call-runs-its-tool-once" in found
