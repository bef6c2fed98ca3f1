"""Each rule of each wire refuses the smallest body that breaks it, and not the nearest one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from meta.judge.judged import JudgedWire
from meta.judge.wires import EACH, JUDGED

CASES = [
    pytest.param(wire, rule, refused, id=f"{wire.name}-{rule}-{number}")
    for wire in JUDGED
    for number, (rule, refused, _) in enumerate(wire.cases)
]
ACCEPTED = [
    pytest.param(wire, accepted, id=f"{wire.name}-{number}")
    for wire in JUDGED
    for number, (_, _, accepted) in enumerate(wire.cases)
    if accepted is not None
]


@pytest.mark.parametrize(("wire", "rule", "refused"), CASES)
def test_a_broken_rule_is_named_first(wire: JudgedWire, rule: str, refused: object) -> None:
    """The first problem of a body that breaks one rule names that rule."""
    problems = wire.judge(refused)

    assert rule == problems[0].rule


@pytest.mark.parametrize(("wire", "accepted"), ACCEPTED)
def test_the_nearest_body_is_accepted(wire: JudgedWire, accepted: object) -> None:
    """A body that breaks no rule has no problem."""
    assert [] == wire.judge(accepted)


@EACH
def test_every_rule_has_a_case(wire: JudgedWire) -> None:
    """Every rule that needs no state has a body that breaks it."""
    assert set(wire.rules) - set(wire.with_state) == {rule for rule, _, _ in wire.cases}


@pytest.mark.parametrize(("wire", "rule", "refused"), CASES)
def test_a_pointer_leads_into_the_body(wire: JudgedWire, rule: str, refused: object) -> None:
    """A pointer leads to a member of the body, or to one that is missing from an object there."""
    for problem in wire.judge(refused):
        place: Any = refused
        *parents, last = problem.pointer.split("/")[1:] or [""]
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]

        assert isinstance(place, dict) or last == "" or int(last) < len(place)


@pytest.mark.parametrize(("wire", "rule", "refused"), CASES)
def test_a_refusal_has_the_services_members(wire: JudgedWire, rule: str, refused: object) -> None:
    """A refusal is the service's error object, with its members in order."""
    body = wire.refusal(wire.judge(refused)[0])

    assert wire.refusal_members == {"": list(body), "error": list(body["error"])}
    assert "invalid_request_error" == body["error"]["type"]


@EACH
def test_rules_are_sentences(wire: JudgedWire) -> None:
    """Each rule is stated in one sentence."""
    assert [] == [rule for rule, text in wire.rules.items() if not text.endswith(".") or ". " in text]
