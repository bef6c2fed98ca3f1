"""Each rule refuses the smallest body that breaks it, and not the nearest one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.wires.anthropic_messages import judge_memory, judge_threads
from looptck.wires.anthropic_messages.judge import RULES, judge, refusal
from meta.judge.messages import cases_history, cases_shape

CASES = cases_shape.CASES + cases_history.CASES
NAMES = [f"{rule}-{number}" for number, (rule, _, _) in enumerate(CASES)]


@pytest.mark.parametrize(("rule", "refused", "_"), CASES, ids=NAMES)
def test_a_broken_rule_is_named_first(rule: str, refused: object, _: object) -> None:
    """The first problem of a body that breaks one rule names that rule."""
    problems = judge(refused)

    assert rule == problems[0].rule


@pytest.mark.parametrize("accepted", [accepted for _, _, accepted in CASES if accepted is not None])
def test_the_nearest_body_is_accepted(accepted: object) -> None:
    """A body that breaks no rule has no problem."""
    assert [] == judge(accepted)


def test_every_rule_has_a_case() -> None:
    """Every rule that needs no memory has a body that breaks it."""
    alone = set(RULES) - set(judge_memory.RULES) - set(judge_threads.RULES)

    assert alone == {rule for rule, _, _ in CASES}


@pytest.mark.parametrize(("_rule", "refused", "_accepted"), CASES, ids=NAMES)
def test_a_pointer_leads_into_the_body(_rule: str, refused: object, _accepted: object) -> None:
    """A pointer leads to a member of the body, or to one that is missing from an object there."""
    for problem in judge(refused):
        place: Any = refused
        *parents, last = problem.pointer.split("/")[1:] or [""]
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]

        assert isinstance(place, dict) or last == "" or int(last) < len(place)


@pytest.mark.parametrize(("_rule", "refused", "_accepted"), CASES, ids=NAMES)
def test_a_refusal_is_shaped_as_the_services(_rule: str, refused: object, _accepted: object) -> None:
    """A refusal is an error object with a type and a message, beside the request's id."""
    body = refusal(judge(refused)[0])

    assert ["type", "error", "request_id"] == list(body)
    assert ["type", "message"] == list(body["error"])
    assert "invalid_request_error" == body["error"]["type"]


def test_rules_are_sentences() -> None:
    """Each rule is stated in one sentence."""
    assert [] == [rule for rule, text in RULES.items() if not text.endswith(".") or ". " in text]
