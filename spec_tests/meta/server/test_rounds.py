"""The documents of servers do not say which number the first round has."""

from __future__ import annotations

import pytest

from looptck.bench.client.reply import Progress
from looptck.spec.server_loop.clients import phases_of


@pytest.mark.parametrize("first", [0, 1, "a"])
def test_rounds_are_counted_and_their_numbers_are_free(first: int | str) -> None:
    """Two rounds, whatever the server calls the first."""
    rounds = [first, first, 7, 7]
    events = [Progress(at, number, "look", phase, {}) for at, (number, phase) in enumerate(zip(rounds, PHASES * 2))]

    assert [(0, "calling"), (0, "complete"), (1, "calling"), (1, "complete")] == phases_of(events)


PHASES = ("calling", "complete")
