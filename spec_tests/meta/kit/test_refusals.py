"""What is told of refused requests: of each rule the first refusal, and how many more there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from looptck.bench.run import Run
from looptck.bench.standing import first_refused, refusals
from looptck.values.problem import Problem

EMPTY = [Problem("texts-are-filled", f"/messages/{place}/content", "text must be non-empty") for place in range(3)]
LONE = Problem("every-call-is-answered", "/messages/4", "No tool output found.")
UNASKED = Problem("items-are-kept", "/input/1/id", "Item not found.", unasked=True)


def _run(*problems: list[Problem]) -> Run:
    """A run of a request for each of these lists."""
    received = [SimpleNamespace(n=n, problems=tuple(ones)) for n, ones in enumerate(problems, 1)]
    return cast(Run, cast(Any, SimpleNamespace(received=received)))


def test_each_rule_is_told_once() -> None:
    """With its first place, in the order of the first refusals, over all requests."""
    assert [
        "request 1 is refused at /messages/0/content: text must be non-empty (texts-are-filled), and 3 more times",
        "request 2 is refused at /messages/4: No tool output found. (every-call-is-answered)",
    ] == [*refusals(_run(EMPTY[:2], [LONE, *EMPTY[1:]]))]


def test_once_more_is_told() -> None:
    """A second refusal is one more."""
    (told,) = refusals(_run(EMPTY[:1], EMPTY[:1]))

    assert told.endswith("(texts-are-filled), and 1 more time")


def test_reasoning_that_nobody_asked_for_is_none() -> None:
    """Another requirement tells of it."""
    assert first_refused([_run([UNASKED]), _run([])]) is None
