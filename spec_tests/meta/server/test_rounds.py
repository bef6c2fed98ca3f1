"""The documents of servers do not say which number the first round has."""

from __future__ import annotations

import pytest

from looptck.bench.client.reply import Progress
from looptck.spec.server_loop.clients import phases_of


@pytest.mark.parametrize("first", [0, 1, "a"])
def test_rounds_are_counted_and_their_numbers_are_free(first: int | str) -> None:
    """Two rounds, whatever the server calls the first."""
    told = [(first, "calling"), (first, "complete"), (7, "calling"), (7, "complete")]
    events = [Progress(at, number, "look", phase, {}) for at, (number, phase) in enumerate(told)]

    assert [(0, "calling"), (0, "complete"), (1, "calling"), (1, "complete")] == phases_of(events)
