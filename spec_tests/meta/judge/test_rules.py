"""Each rule of each wire refuses the smallest body that breaks it, and not the nearest one that does not."""

from __future__ import annotations

from typing import Any

from meta.judge.judged import JudgedWire
from meta.judge.wires import EACH
from meta.kit.each import each


def refused(wire: JudgedWire) -> dict[str, tuple[str, object]]:
    """The bodies that break a rule of a wire, each with the rule."""
    return {f"{rule}-{number}": (rule, body) for number, (rule, body, _) in enumerate(wire.cases)}


@EACH
def test_a_broken_rule_is_named_first(wire: JudgedWire) -> None:
    """The first problem of a body that breaks one rule names that rule."""

    def named(rule: str, body: object) -> None:
        problems = wire.judge(body)

        assert rule == problems[0].rule

    each(refused(wire), named)


@EACH
def test_the_nearest_body_is_accepted(wire: JudgedWire) -> None:
    """A body that breaks no rule has no problem."""

    def accepted(body: object) -> None:
        assert [] == wire.judge(body)

    bodies = {f"{rule}-{number}": body for number, (rule, _, body) in enumerate(wire.cases)}
    each({name: (body,) for name, body in bodies.items() if body is not None}, accepted)


@EACH
def test_every_rule_has_a_case(wire: JudgedWire) -> None:
    """Every rule that needs no state has a body that breaks it."""
    assert set(wire.rules) - set(wire.with_state) == {rule for rule, _, _ in wire.cases}


@EACH
def test_a_pointer_leads_into_the_body(wire: JudgedWire) -> None:
    """A pointer leads to a member of the body, or to one that is missing from an object there."""

    def leads(_: str, body: object) -> None:
        for problem in wire.judge(body):
            place: Any = body
            *parents, last = problem.pointer.split("/")[1:] or [""]
            for step in parents:
                place = place[int(step)] if isinstance(place, list) else place[step]

            assert isinstance(place, dict) or last == "" or int(last) < len(place)

    each(refused(wire), leads)


@EACH
def test_a_refusal_has_the_services_members(wire: JudgedWire) -> None:
    """A refusal is the service's error object, with its members in order."""

    def has_them(_: str, refused: object) -> None:
        body = wire.refusal(wire.judge(refused)[0])

        assert wire.refusal_members == {"": list(body), "error": list(body["error"])}
        assert "invalid_request_error" == body["error"]["type"]

    each(refused(wire), has_them)


@EACH
def test_rules_are_sentences(wire: JudgedWire) -> None:
    """Each rule is stated in one sentence."""
    assert [] == [rule for rule, text in wire.rules.items() if not text.endswith(".") or ". " in text]
