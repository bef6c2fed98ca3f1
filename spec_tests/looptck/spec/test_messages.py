"""The wire ``anthropic-messages``: how a turn's results stand in the next request."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, requirement
from looptck.expectations import failed_results
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, Hosted, Turn, calls, says, turn
from looptck.verdicts import NotReached

TWO = calls(Call.of("weather", {"city": "Paris"}), Call.of("add", {"a": 1, "b": 2}))
PENDING = turn(Hosted(done=False), Call.of("weather", {"city": "Paris"}))


def _played(provider: Scene, implementation: Implementation, first: Turn) -> Run:
    provider.plays(first, says("Done."))
    run = implementation.run()
    run.delivered(1)
    return run


def _with_results(run: Run, n: int) -> list[list[dict[str, Any]]]:
    """The contents of the user messages of request ``n`` that carry results. NotReached if there is none."""
    carrying = []
    for message in run.request(n).body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if any(block.get("type") == "tool_result" for block in blocks):
            carrying.append(blocks)
    if not carrying:
        raise NotReached(f"request {n} carries no result")
    return carrying


@requirement("results-share-one-message")
def test_one_message(provider: Scene, implementation: Implementation) -> None:
    """Two calls of one turn are answered in one message."""
    run = _played(provider, implementation, TWO)

    carrying = _with_results(run, 2)
    results = [block for blocks in carrying for block in blocks if block["type"] == "tool_result"]
    if len(results) < 2:
        raise NotReached("one result alone is always in one message")
    assert 1 == len(carrying), f"{len(results)} results stand in {len(carrying)} messages"


@requirement("results-come-first")
@pytest.mark.parametrize("first", [TWO, calls(Call.of("ping"), text="I look.")], ids=["two-calls", "text-before"])
def test_results_first(provider: Scene, implementation: Implementation, first: Turn) -> None:
    """No other block stands before a result."""
    run = _played(provider, implementation, first)

    for blocks in _with_results(run, 2):
        kinds = [block["type"] for block in blocks]
        last = len(kinds) - kinds[::-1].index("tool_result")
        assert {"tool_result"} == set(kinds[:last]), kinds


@requirement("results-stand-alone-beside-a-pending-hosted-tool")
def test_nothing_beside_results(provider: Scene, implementation: Implementation) -> None:
    """A search of the service has no result yet; the message after the turn holds the result of the call alone."""
    run = _played(provider, implementation, PENDING)

    found = [[(block["type"], block.get("tool_use_id")) for block in blocks] for blocks in _with_results(run, 2)]
    assert [[("tool_result", asked.id) for asked in run.request(2).request.asked]] == found
    assert run.request(1).request.tools == run.request(2).request.tools


@requirement("failed-results-are-marked")
@pytest.mark.parametrize("failing", [1, 2])
def test_failed_results(provider: Scene, implementation: Implementation, failing: int) -> None:
    """One of two tools raises; its result is marked, and the other's is not."""
    provider.plays(TWO, says("Done."))
    provider.raises(["weather", "add"][failing - 1], "it did not work")

    run = implementation.run()

    failed_results(run, {"turn": 1, "calls": [failing]})
