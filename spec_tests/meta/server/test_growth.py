"""The growth of a server's process that is no leak."""

from __future__ import annotations

import pytest

from looptck.spec.server_loop.growth import grows

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("before", "after", "leak"),
    [(100, 124, False), (100, 125, True), (873, 908, False), (800, 901, True), (300, 290, False)],
    ids=["unreturned", "small-and-leaking", "large-and-not-collected", "large-and-leaking", "smaller"],
)
def test_growth(before: int, after: int, leak: bool) -> None:
    """A large heap may grow by an eighth before its garbage is collected, and any process by some megabytes."""
    assert grows(before * MB, after * MB) is leak
