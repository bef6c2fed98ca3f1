"""Profile ``anthropic-loop``: where results are placed in the next request, and what their content is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.assertions.results import answered_once, answers, answers_in_order
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.gate import Gate
from looptck.provider.toolbox import Returns
from looptck.spec.messages import Block, carrying, results
from looptck.values.plain import plain
from looptck.values.structured import left_out
from looptck.values.transcript import Received
from looptck.values.turns import Call, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotReached

TWO = calls(Call.of("weather", {"city": "Paris"}), Call.of("ping"))
FIRST = {
    "two-calls": TWO,
    "text-before": calls(*TWO.calls, text="I look."),
    "text-behind": turn(*TWO.calls, "I have asked."),
    "thinking-before": turn(Thinking("Both, then."), *TWO.calls),
}
"""Turns with two calls each."""
PARTS = {"text", "image", "search_result", "document", "tool_reference", "browser_state"}
"""The types of blocks that the content of a result may have."""


def _played(scenario: Scenario, implementation: Implementation, first: Turn) -> Run:
    scenario.plays(first, says("Done."))
    run = implementation.run()
    run.delivered(1)
    return run


@requirement("claude-every-call-is-answered")
@pytest.mark.parametrize("slow", ["weather", "ping"])
def test_slow_calls(scenario: Scenario, implementation: Implementation, slow: str) -> None:
    """One call takes a while; the model is asked again only with the results of both calls."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n > 1, gates.ABSENCE)
    scenario.does(slow, Returns("at last", hold=again))

    run = _played(scenario, implementation, TWO)

    answered_once(run, 1)
    answers(run, 1)
    assert [again.name] == run.gave_up, f"the model was asked again before {slow} had ended"


def _first_ends_last(scenario: Scenario, implementation: Implementation) -> Run:
    """A run in which the first of three calls ends last, if the loop runs calls in parallel."""
    if implementation.started.can("parallel"):
        scenario.does("weather", Returns("warm", hold=gates.tools_ended(2)))
    run = _played(scenario, implementation, calls(*TWO.calls, Call.of("add", {"a": 1, "b": 2})))
    if run.gave_up:
        raise NotReached("the loop declares that it runs calls in parallel, but two calls did not end before the other")
    return run


@requirement("claude-results-carry-their-ids")
def test_ids_of_late_results(scenario: Scenario, implementation: Implementation) -> None:
    """Each result has the id of its call, in whatever order the calls end."""
    run = _first_ends_last(scenario, implementation)

    answered_once(run, 1)
    answers(run, 1)


@requirement("claude-results-keep-call-order")
def test_order_of_ends(scenario: Scenario, implementation: Implementation) -> None:
    """The result of the first call comes first, though the call ended last."""
    run = _first_ends_last(scenario, implementation)

    answered_once(run, 1)
    answers_in_order(run, 1)


@requirement("claude-results-share-one-message")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_one_message(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """The results of two calls of one turn are in one message."""
    run = _played(scenario, implementation, first)

    if len(results(run, 2)) < 2:
        raise NotReached("a single result is always in one message")
    assert 1 == len(carrying(run, 2)), "the results of one turn are spread over several messages"


@requirement("claude-results-come-first")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_results_first(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """No other block comes before a result."""
    run = _played(scenario, implementation, first)

    for blocks in carrying(run, 2):
        kinds = [block.get("type") for block in blocks]
        count = kinds.count("tool_result")
        assert ["tool_result"] * count == kinds[:count], f"not only results come first: {plain(kinds)}"


@requirement("claude-results-stand-alone")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_results_alone(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """The message holds no block other than results."""
    run = _played(scenario, implementation, first)

    kinds = {block.get("type") for blocks in carrying(run, 2) for block in blocks}
    assert {"tool_result"} == kinds


VALUES: dict[str, Any] = {
    "object": {"city": "Zürich", "degrees": 18.5, "tags": ["sunny", "dry"], "warning": {"wind": "strong"}},
    "list": [{"id": 1, "name": "one"}, "two", 3],
    "number": 42,
    "fraction": -0.5,
    "truth": True,
    "text": '18 °C, "sunny"\nand dry',
}


def _returned(scenario: Scenario, implementation: Implementation, value: Any) -> Block:
    """The result of a tool that returned this value."""
    scenario.returns("ping", value)
    run = _played(scenario, implementation, calls(Call.of("ping")))
    return results(run, 2)[0]


@requirement("claude-content-is-text-or-blocks")
@pytest.mark.parametrize("value", [*VALUES.values(), None, "", {}, []], ids=[*VALUES, "null", "nothing", "{}", "[]"])
def test_content(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """Whatever a tool returns, the content is a string, a list of blocks, or absent."""
    content = _returned(scenario, implementation, value).get("content")

    if content is None or isinstance(content, str):
        return
    assert isinstance(content, list), f"the content is {plain(content)}"
    for block in content:
        assert isinstance(block, dict), f"{block!r} is not a block"
        assert block.get("type") in PARTS, f"a result may not hold the block {block!r}"


@requirement("claude-content-holds-the-value")
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_content_holds_the_value(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The content contains every key and leaf of the value; how a string is encoded is recorded."""
    content = _text(_returned(scenario, implementation, value).get("content"))

    lost = left_out(value, content)
    assert not lost, f"{lost[0]!r} is not in {plain(content)}"
    if isinstance(value, str):
        implementation.diverges("a text that a tool returns", "as it is" if value == content else "written as JSON")


def _text(content: Any) -> str:
    """The text of a result's content, plain or in blocks. Whether it is the right value is judged elsewhere."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "".join(str(block.get("text", block)) if isinstance(block, dict) else str(block) for block in content)
