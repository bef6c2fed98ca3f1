"""Loops that read their caller's choice of tools in different ways, each of which is right."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from meta.strangers.playing import require_playable, rows

CHAT, MESSAGES, RESPONSES = "openai-chat/plain/sync", "anthropic-messages/plain/async", "openai-responses/plain/async"
RIGHT = [
    ("choices/chat.py:Driver", CHAT),
    ("choices/chat.py:Driver", "openai-chat/stream/sync"),
    ("choices/chat.py:First", CHAT),
    ("choices/chat.py:Allowed", CHAT),
    ("choices/chat.py:Offering", CHAT),
    ("choices/chat.py:Prefixed", CHAT),
    ("choices/chat.py:Each", CHAT),
    ("choices/chat.py:Handing", CHAT),
    ("answers/chat.py:Chosen", CHAT),
    ("choices/messages.mjs", MESSAGES),
    ("choices/responses.mjs", RESPONSES),
    ("choices/responses.mjs", "openai-responses/stream/async"),
    ("choices/responses.mjs allowed", RESPONSES),
]
REACHES = "choice-reaches-the-service"
ROWS = {
    REACHES,
    "forced-choice-ends",
    "forced-choice-is-for-one-round",
    "single-calls-reach-the-service",
    "calls-beyond-a-forbidden-parallel-are-answered",
    "no-tool-options-without-tools",
    "no-request-is-refused",
}


@pytest.mark.parametrize(("loop", "cell"), RIGHT, ids=[f"{loop}-{cell}" for loop, cell in RIGHT])
def test_right_reading_fails_nothing(loop: str, cell: str) -> None:
    """No requirement about choices counts against it, and its choices reach the service."""
    require_playable(loop)

    results = rows(loop, cell, ROWS)

    assert {"pass"} <= {one.verdict for one in results if one.requirement == REACHES}
    assert [] == [f"{one.requirement}: {one.reason}" for one in results if one.verdict in {*AGAINST, "error"}]
