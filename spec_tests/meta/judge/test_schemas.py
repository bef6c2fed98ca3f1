"""The schemas are sound, mean the same to two validators, and the judge outlives any body."""

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
from looptck.wires.openai_chat.judge import judge, refusal
from meta.judge import cases_history, cases_shape
from meta.judge.bodies import USER, asks, part, request, result, tool

REQUEST = json_fixture("wire-schemas/openai-chat.request.json")
CHUNK = json_fixture("wire-schemas/openai-chat.chunk.json")
RESPONSE = json_fixture("wire-schemas/openai-chat.response.json")
SLOW = jsonschema.Draft202012Validator(REQUEST)
FAST = jsonschema_rs.validator_for(REQUEST)
BODIES = [body for _, *bodies in cases_shape.CASES + cases_history.CASES for body in bodies if body is not None]

HEAD = {"id": "x", "created": 1, "model": "m"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@pytest.mark.parametrize("schema", [REQUEST, RESPONSE, CHUNK], ids=lambda schema: schema["title"])
def test_a_schema_is_a_schema(schema: dict[str, Any]) -> None:
    """Each schema fits the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("body", BODIES, ids=json.dumps)
def test_two_validators_agree(body: object) -> None:
    """Both validators accept or refuse a body alike."""
    assert SLOW.is_valid(body) == FAST.is_valid(body)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in _places(member, (*path, key)))]


WHOLE = request(
    {"role": "system", "content": [part("text")], "name": "s"},
    USER,
    asks("a", "b"),
    result("a"),
    result("b", content=[part("text")]),
    {"role": "assistant", "content": "x", "refusal": None},
    tools=[tool(strict=False)],
    tool_choice={"type": "function", "function": {"name": "f"}},
    response_format={"type": "json_schema", "json_schema": {"name": "o", "schema": {}, "strict": True}},
    stream=True,
    stream_options={"include_usage": True},
    metadata={"a": "b"},
    stop=["x"],
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.just(0.5), st.sampled_from(["", "a", "tool", "text"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["role", "type", "name", "content", "id"]), inner, max_size=2),
    ),
    max_leaves=4,
)


@given(st.sampled_from(_places(WHOLE)[1:]), VALUES)
def test_any_value_anywhere_is_judged(path: tuple[str | int, ...], value: object) -> None:
    """Whatever stands in a member's place, the validators agree, and the judge speaks if they refuse."""
    body: Any = copy.deepcopy(WHOLE)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    problems = judge(body)

    assert SLOW.is_valid(body) == FAST.is_valid(body)
    assert FAST.is_valid(body) or problems
    assert all(refusal(problem) for problem in problems)


@given(VALUES)
def test_any_body_is_judged(body: object) -> None:
    """A body that is no request at all is refused, not stumbled over."""
    assert judge(body)


def test_half_a_surrogate_pair_is_refused() -> None:
    """A member name that UTF-8 cannot hold makes the body unreadable."""
    assert ["body-is-an-object"] == [problem.rule for problem in judge(request(**{"\ud83d": 1}))]


def _response(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (RESPONSE, _response({"content": "x"}), True),
        (RESPONSE, _response({"tool_calls": [CALL]}, "tool_calls"), True),
        (RESPONSE, _response({"tool_calls": []}), False),
        (RESPONSE, _response({"tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}), False),
        (RESPONSE, _response({"reasoning_content": "x"}), False),
        (RESPONSE, _response({}, "tool_use"), False),
        (CHUNK, _chunk({"role": "assistant", "content": ""}), True),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, **CALL}]}), True),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}), True),
        (CHUNK, _chunk({"tool_calls": [CALL]}), False),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, "function": {"arguments": {}}}]}), False),
        (CHUNK, _chunk({}, "stop"), True),
        (CHUNK, {**_chunk({}), "choices": [], "usage": USAGE}, True),
        (CHUNK, {**HEAD, "object": "chat.completion.chunk"}, False),
    ],
)
def test_replies_are_told_from_what_is_none(schema: dict[str, Any], value: object, *, fits: bool) -> None:
    """The reply schemas take what the service writes and nothing else."""
    assert fits == jsonschema_rs.validator_for(schema).is_valid(value)
    assert fits == jsonschema.Draft202012Validator(schema).is_valid(value)
