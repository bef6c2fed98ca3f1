"""Profile ``anthropic-loop``: how results stand in the next request, and what their content is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.checks import Implementation, requirement
from looptck.expectations import answered_once, answers, answers_in_order
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.gates import Gate
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.spec.messages import Block, carrying, results
from looptck.structured import left_out
from looptck.transcript import Received
from looptck.turns import Call, Thinking, Turn, calls, says, turn
from looptck.verdicts import NotReached

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


def _played(provider: Scene, implementation: Implementation, first: Turn) -> Run:
    provider.plays(first, says("Done."))
    run = implementation.run()
    run.delivered(1)
    return run


@requirement("claude-every-call-is-answered")
@pytest.mark.parametrize("slow", ["weather", "ping"])
def test_slow_calls(provider: Scene, implementation: Implementation, slow: str) -> None:
    """One call has not ended for a while; the model is asked again only with the results of both."""
    again = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n > 1, gates.ABSENCE)
    provider.does(slow, Returns("at last", hold=again))

    run = _played(provider, implementation, TWO)

    answered_once(run, 1)
    answers(run, 1)
    assert [again.name] == run.gave_up, f"the model was asked again before {slow} had ended"


def _first_ends_last(provider: Scene, implementation: Implementation) -> Run:
    """A run in which the first call of three ends after the others, where the loop runs them at the same time."""
    if implementation.started.can("parallel"):
        provider.does("weather", Returns("warm", hold=gates.tools_ended(2)))
    run = _played(provider, implementation, calls(*TWO.calls, Call.of("add", {"a": 1, "b": 2})))
    if run.gave_up:
        raise NotReached("the loop declares that it runs calls at the same time, and two did not end before the third")
    return run


@requirement("claude-results-carry-their-ids")
def test_ids_of_late_results(provider: Scene, implementation: Implementation) -> None:
    """Each result has the id of its call, in whatever order the calls end."""
    run = _first_ends_last(provider, implementation)

    answered_once(run, 1)
    answers(run, 1)


@requirement("claude-results-keep-call-order")
def test_order_of_ends(provider: Scene, implementation: Implementation) -> None:
    """The result of the first call is the first, though the call ended last."""
    run = _first_ends_last(provider, implementation)

    answered_once(run, 1)
    answers_in_order(run, 1)


@requirement("claude-results-share-one-message")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_one_message(provider: Scene, implementation: Implementation, first: Turn) -> None:
    """Two calls of one turn are answered in one message."""
    run = _played(provider, implementation, first)

    if len(results(run, 2)) < 2:
        raise NotReached("one result alone is always in one message")
    assert 1 == len(carrying(run, 2)), "the results of one turn stand in several messages"


@requirement("claude-results-come-first")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_results_first(provider: Scene, implementation: Implementation, first: Turn) -> None:
    """No other block stands before a result."""
    run = _played(provider, implementation, first)

    for blocks in carrying(run, 2):
        kinds = [block.get("type") for block in blocks]
        count = kinds.count("tool_result")
        assert ["tool_result"] * count == kinds[:count], kinds


@requirement("claude-results-stand-alone")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_results_alone(provider: Scene, implementation: Implementation, first: Turn) -> None:
    """No other block stands beside a result."""
    run = _played(provider, implementation, first)

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


def _returned(provider: Scene, implementation: Implementation, value: Any) -> Block:
    """The result of a tool that returned this value."""
    provider.returns("ping", value)
    run = _played(provider, implementation, calls(Call.of("ping")))
    return results(run, 2)[0]


@requirement("claude-content-is-text-or-blocks")
@pytest.mark.parametrize("value", [*VALUES.values(), None, "", {}, []], ids=[*VALUES, "null", "nothing", "{}", "[]"])
def test_content(provider: Scene, implementation: Implementation, value: Any) -> None:
    """Whatever a tool returns, the content is a text, or a list of blocks, or absent."""
    content = _returned(provider, implementation, value).get("content")

    if content is None or isinstance(content, str):
        return
    assert isinstance(content, list), f"the content is {content!r}"
    for block in content:
        assert isinstance(block, dict), f"{block!r} stands where a block should"
        assert block.get("type") in PARTS, f"{block!r} is no block that a result may hold"


@requirement("claude-content-holds-the-value")
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_content_holds_the_value(provider: Scene, implementation: Implementation, value: Any) -> None:
    """Every key and leaf of the value stands in the content; how a text is written is recorded."""
    content = _text(_returned(provider, implementation, value).get("content"))

    lost = left_out(value, content)
    assert not lost, f"{lost[0]!r} is not in {content!r}"
    if isinstance(value, str):
        implementation.diverges("a text that a tool returns", "as it is" if value == content else "written as JSON")


def _text(content: Any) -> str:
    """The text of a result's content, which may stand in blocks; that it is another value is not judged here."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "".join(str(block.get("text", block)) if isinstance(block, dict) else str(block) for block in content)
