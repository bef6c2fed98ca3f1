"""The schemas of requests are sound, mean the same to two validators, and judge and reader outlive any body."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import jsonschema
import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.turns import Call, Thinking, turn
from meta.judge.judged import JudgedWire
from meta.judge.wires import EACH, JUDGED
from meta.kit.each import each

SENT = turn(Thinking("hm"), Call.of("f")).numbered(1)
Path = tuple[str | int, ...]


@cache
def validators(name: str) -> tuple[jsonschema.Draft202012Validator, jsonschema_rs.Validator]:
    """The validator of the second opinion, and the fast one that the judge uses, of a wire's requests."""
    (schema,) = (wire.schema for wire in JUDGED if wire.name == name)
    return jsonschema.Draft202012Validator(schema), jsonschema_rs.validator_for(schema)


def fits(wire: JudgedWire, body: object) -> bool:
    """Whether a body fits the schema, on which both validators agree."""
    slow, fast = validators(wire.name)

    assert slow.is_valid(body) == fast.is_valid(body)
    return fast.is_valid(body)


@EACH
def test_the_schema_is_a_schema(wire: JudgedWire) -> None:
    """It fits the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(wire.schema)


@EACH
def test_two_validators_agree(wire: JudgedWire) -> None:
    """Both validators accept or refuse a body alike, and what they refuse the judge refuses."""

    def alike(body: object) -> None:
        assert fits(wire, body) or wire.judge(body)

    bodies = [body for _, *bodies in wire.cases for body in bodies if body is not None]
    each({json.dumps(body): (body,) for body in bodies}, alike)


def _places(value: object, path: Path = ()) -> list[Path]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in _places(member, (*path, key)))]


@EACH
@given(st.data())
def test_any_value_anywhere_is_judged(wire: JudgedWire, data: st.DataObject) -> None:
    """Whatever replaces a member, the validators agree, the judge speaks if they refuse, and the request is read."""
    path = data.draw(st.sampled_from(_places(wire.rich)[1:]), label="place")
    body: Any = copy.deepcopy(wire.rich)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = data.draw(wire.values, label="value")
    service = wire.service()
    service.replied(wire.request(), 1, SENT)

    problems = wire.judge(body)

    assert fits(wire, body) or problems
    assert all(wire.refusal(problem)["error"]["message"] for problem in [*problems, *service.judge(body)])
    assert service.read(body).items or path == (wire.history,)


@EACH
@given(st.data())
def test_any_body_is_judged(wire: JudgedWire, data: st.DataObject) -> None:
    """A body that is no request at all is refused, not stumbled over, by a service too."""
    body = data.draw(wire.values, label="body")

    assert wire.judge(body)
    assert wire.service(stateful=True).judge(body)
    assert wire.service(stateful=False).judge(body)


@EACH
def test_half_a_surrogate_pair_is_refused(wire: JudgedWire) -> None:
    """A member name that UTF-8 cannot hold makes the body unreadable."""
    assert ["body-is-an-object"] == [problem.rule for problem in wire.judge(wire.request(**{"\ud83d": 1}))]
