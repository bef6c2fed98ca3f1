"""What the tests of the recorder share: one far end, and one proxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from looptck.recording.tape import Tape, tape
from looptck.recording.upstreams import Upstream
from looptck.wires import WIRES
from meta.recording.far_end import FarEnd

PATIENCE = 20.0
"""Seconds for a reply that comes by itself: never waited for."""


@pytest.fixture(scope="session")
def served() -> Iterator[FarEnd]:
    """A far end for all tests."""
    with FarEnd() as far_end:
        yield far_end


@pytest.fixture(scope="session")
def taped(served: FarEnd) -> Iterator[Tape]:
    """A proxy and vcrpy in front of it."""
    with tape(served.base_url, PATIENCE) as one:
        yield one


@pytest.fixture
def far_end(served: FarEnd) -> FarEnd:
    """The far end, with nothing to say yet."""
    served.replies(None)
    return served


@pytest.fixture
def upstream(far_end: FarEnd) -> Upstream:
    """The far end as an upstream."""
    return Upstream("the far end", far_end.base_url, "looptck-model", tuple(WIRES))
