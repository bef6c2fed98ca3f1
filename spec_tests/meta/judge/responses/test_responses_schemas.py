"""The request's schema is sound, means the same to two validators, and the judge and the reader outlive any body."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.data import json_fixture
from looptck.turns import Call, Thinking, turn
from looptck.wires.openai_responses.judge import judge, refusal
from looptck.wires.openai_responses.service import service
from meta.judge.responses import cases_history, cases_shape
from meta.judge.responses.bodies import (
    USER,
    call,
    custom,
    custom_output,
    output,
    part,
    reference,
    request,
    says,
    thought,
    tool,
)
from meta.kit.steady import STEADY

REQUEST = json_fixture("wire-schemas/openai-responses.request.json")
SLOW = jsonschema.Draft202012Validator(REQUEST)
FAST = jsonschema_rs.validator_for(REQUEST)
BODIES = [body for _, *bodies in cases_shape.CASES + cases_history.CASES for body in bodies if body is not None]


def test_the_schema_is_a_schema() -> None:
    """The schema fits the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(REQUEST)


@pytest.mark.parametrize("body", BODIES, ids=json.dumps)
def test_two_validators_agree(body: object) -> None:
    """Both validators accept or refuse a body alike."""
    assert SLOW.is_valid(body) == FAST.is_valid(body)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in _places(member, (*path, key)))]


SENT = turn(Thinking("hm"), Call.of("f")).numbered(1)
WHOLE = request(
    {"role": "system", "content": [part("input_text")]},
    USER,
    thought("rs_thought_1a", encrypted_content=SENT.pieces[0].seal),  # type: ignore[union-attr]
    call("a", id="fc_a", status="completed"),
    output("a"),
    custom("b"),
    custom_output("b", output=[part("input_text")]),
    says(id="msg_a", phase="final_answer"),
    reference("fc_call_1a"),
    {"type": "web_search_call", "id": "ws_a", "action": {"type": "search"}, "status": "completed"},
    {"type": "mcp_call", "id": "mcp_a", "server_label": "s", "name": "n", "arguments": "{}", "output": None},
    output("call_1a"),
    tools=[tool(strict=True, parameters=cases_shape.CLOSED), {"type": "web_search"}],
    tool_choice={"type": "function", "name": "f"},
    text={"format": {"type": "json_schema", "name": "o", "schema": cases_shape.CLOSED, "strict": True}},
    previous_response_id="resp_looptck0000000000000001",
    instructions="Be good.",
    stream=True,
    stream_options={"include_obfuscation": True},
    metadata={"a": "b"},
    include=["reasoning.encrypted_content"],
    conversation=None,
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.just(0.5), st.sampled_from(["", "a", "function_call", "message"])
)
NAMES = st.sampled_from(["role", "type", "name", "content", "id", "call_id", "input", "text", "format", "output"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=2)),
    max_leaves=4,
)
ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES | st.sampled_from(["tools", "arguments"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@STEADY
@given(st.sampled_from(_places(WHOLE)[1:]), VALUES)
def test_any_value_anywhere_is_judged(path: tuple[str | int, ...], value: object) -> None:
    """Whatever stands in a member's place, the validators agree, the judge speaks if they refuse, and it is read."""
    body: Any = copy.deepcopy(WHOLE)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    far_end = service(True)
    far_end.replied(request(), 1, SENT)

    problems = judge(body)

    assert SLOW.is_valid(body) == FAST.is_valid(body)
    assert FAST.is_valid(body) or problems
    assert all(refusal(problem) for problem in [*problems, *far_end.judge(body)])
    assert far_end.read(body).items


@STEADY
@given(VALUES)
def test_any_body_is_judged(body: object) -> None:
    """A body that is no request at all is refused, not stumbled over."""
    assert judge(body)
    assert service(True).judge(body)


@STEADY
@given(ANY)
def test_any_body_is_read(body: object) -> None:
    """Reading a body, and one with anything as its input, never fails."""
    far_end = service(True)

    assert far_end.read(body).continues is None
    assert far_end.read(request(input=body)).model == "m"
    assert far_end.read(request(input=[body, body], tools=body, instructions=body)).model == "m"


def test_half_a_surrogate_pair_is_refused() -> None:
    """A member name that UTF-8 cannot hold makes the body unreadable."""
    assert ["body-is-an-object"] == [problem.rule for problem in judge(request(**{"\ud83d": 1}))]
