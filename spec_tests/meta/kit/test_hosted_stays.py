"""Whether a request still offers the service's own tools."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.turns import hosted_stays
from looptck.values.history import Request
from looptck.values.transcript import Received

SEARCH = {"type": "web_search_20250305", "name": "web_search"}
LATER = {"type": "web_search_20260209", "name": "web_search"}
OWN = {"name": "weather", "input_schema": {"type": "object"}}


def received(body: dict[str, Any], *, continues: str | None = None) -> Received:
    """A request with this body; ``continues``: the reply whose conversation the service has kept."""
    read = Request("model", False, (), (), continues=continues)
    return Received(1.0, 2, "/v1/messages", {}, b"", body, read, (), scripted=True)


FIRST = received({"tools": [OWN, SEARCH]})


@pytest.mark.parametrize(
    "later",
    [
        received({"tools": [SEARCH, OWN]}),
        received({"tools": [OWN, LATER]}),
        received({}, continues="thread_1"),
    ],
    ids=["in another order", "of another date", "kept by the service"],
)
def test_what_stays_is_offered(later: Received) -> None:
    """The order and the date mean nothing, and tools that the service has kept need not be sent."""
    hosted_stays(FIRST, later)


@pytest.mark.parametrize("continues", [None, "resp_1"])
def test_what_is_left_out_is_lost(continues: str | None) -> None:
    """A list of tools holds for the whole request, also for one that goes on from a reply."""
    with pytest.raises(AssertionError, match="request 2 no longer offers web_search, a tool of the service"):
        hosted_stays(FIRST, received({"tools": [OWN]}, continues=continues))
