"""The wire ``anthropic-messages``: where a turn's results are placed in the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.results import failed_results
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.spec.messages import carrying, share_one_message
from looptck.values.lenient import objects_in
from looptck.values.turns import Call, Hosted, Served, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable

TWO = calls(Call.of("weather", {"city": "Paris"}), Call.of("add", {"a": 1, "b": 2}))
PENDING = turn(Hosted(done=False), Call.of("weather", {"city": "Paris"}))

CITED = {
    "type": "text",
    "text": "It is warm in Paris, they say.",
    "citations": [
        {
            "type": "web_search_result_location",
            "url": "https://looptck.example/found",
            "title": "Found: weather in Paris",
            "encrypted_index": "aW5kZXggb2YgbG9vcHRjaw==",
            "cited_text": "It is warm in Paris.",
        },
        {
            "type": "web_search_result_location",
            "url": "https://looptck.example/found/2",
            "title": "Found: Paris in summer",
            "encrypted_index": "c2Vjb25kIGluZGV4",
            "cited_text": "Paris is warm in summer.",
        },
    ],
}
"""A text with the two places in search results from which it is; `encrypted_index` has to come back."""


def _played(scenario: Scenario, implementation: Implementation, first: Turn) -> Run:
    scenario.plays(first, says("Done."))
    run = implementation.run()
    run.delivered(1)
    return run


@requirement("results-share-one-message")
def test_one_message(scenario: Scenario, implementation: Implementation) -> None:
    """The results of two calls of one turn are in one message."""
    run = _played(scenario, implementation, TWO)

    share_one_message(run, 2)


@requirement("results-come-first")
@pytest.mark.parametrize("first", [TWO, calls(Call.of("ping"), text="I look.")], ids=["two-calls", "text-before"])
def test_results_first(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """No other block comes before a result."""
    run = _played(scenario, implementation, first)

    for blocks in carrying(run, 2):
        kinds = [block["type"] for block in blocks]
        last = len(kinds) - kinds[::-1].index("tool_result")
        assert {"tool_result"} == set(kinds[:last]), f"not only results come first: {', '.join(kinds)}"


@requirement("results-stand-alone-beside-a-pending-hosted-tool")
def test_nothing_beside_results(scenario: Scenario, implementation: Implementation) -> None:
    """A search of the service is still pending; the message after the turn holds only the result of the call."""
    run = _played(scenario, implementation, PENDING)

    found = [[(block["type"], block.get("tool_use_id")) for block in blocks] for blocks in carrying(run, 2)]
    assert [[("tool_result", asked.id) for asked in run.request(2).request.asked]] == found
    assert run.request(1).request.tools == run.request(2).request.tools


@requirement("failed-results-are-marked")
@pytest.mark.parametrize("failing", [1, 2])
def test_failed_results(scenario: Scenario, implementation: Implementation, failing: int) -> None:
    """One of two tools raises; its result is marked as an error, and the other result is not."""
    scenario.plays(TWO, says("Done."))
    scenario.raises(["weather", "add"][failing - 1], "it did not work")

    run = implementation.run()

    failed_results(run, {"turn": 1, "calls": [failing]})


@requirement("hosted-tools-are-echoed")
@on("anthropic-messages")
def test_cited_text(scenario: Scenario, implementation: Implementation) -> None:
    """A text cites what the service has found; it goes back with all of its citations."""
    run = _played(
        scenario,
        implementation,
        turn(Hosted(), Served(json.dumps(CITED)), Call.of("weather", {"city": "Paris"})),
    )

    asked = run.request(2)
    if asked.request.continues is not None:
        raise NotApplicable("the service keeps the conversation, so the text does not go back")
    blocks = [
        block for message in objects_in(asked.body.get("messages")) for block in objects_in(message.get("content"))
    ]
    said = [block for block in blocks if block.get("text") == CITED["text"]]
    assert said, f"the next request lacks the text {CITED['text']!r}"
    cited = [_without_nulls(one) for one in said[0].get("citations") or ()]
    assert CITED["citations"] == cited, f"the text goes back with the citations {cited}"


def _without_nulls(citation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in citation.items() if value is not None}
