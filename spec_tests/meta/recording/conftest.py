"""What the tests of the recorder share: one fake upstream, and one proxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from looptck.commands.recording.traffic_log import TrafficLog, traffic_log
from looptck.commands.recording.upstreams import Upstream
from looptck.wires import WIRES
from meta.recording.fake_upstream import FakeUpstream

PATIENCE = 20.0
"""Seconds for a reply that comes by itself: never waited for."""


@pytest.fixture(scope="session")
def served() -> Iterator[FakeUpstream]:
    """A fake upstream for all tests."""
    with FakeUpstream() as fake_upstream:
        yield fake_upstream


@pytest.fixture(scope="session")
def log(served: FakeUpstream) -> Iterator[TrafficLog]:
    """A proxy and vcrpy in front of it."""
    with traffic_log(served.base_url, PATIENCE) as one:
        yield one


@pytest.fixture
def fake_upstream(served: FakeUpstream) -> FakeUpstream:
    """The fake upstream, without replies."""
    served.replies(None)
    return served


@pytest.fixture
def upstream(fake_upstream: FakeUpstream) -> Upstream:
    """The fake upstream as a value."""
    return Upstream("the fake upstream", fake_upstream.base_url, "looptck-model", tuple(WIRES))
