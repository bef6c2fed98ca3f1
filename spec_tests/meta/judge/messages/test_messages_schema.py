"""The schema of a Messages request is sound, means the same to two validators, and the judge outlives any body."""

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
from looptck.wires.anthropic_messages.judge import judge, refusal
from looptck.wires.anthropic_messages.service import service
from meta.judge.messages import cases_history, cases_shape
from meta.judge.messages.bodies import (
    FOUND,
    IMAGE,
    SEARCH,
    THOUGHT,
    USER,
    assistant,
    block,
    call,
    request,
    result,
    system,
    text,
    tool,
    user,
)
from meta.kit.steady import STEADY

REQUEST = json_fixture("wire-schemas/anthropic-messages.request.json")
SLOW = jsonschema.Draft202012Validator(REQUEST)
FAST = jsonschema_rs.validator_for(REQUEST)
BODIES = [body for _, *bodies in cases_shape.CASES + cases_history.CASES for body in bodies if body is not None]


def test_the_schema_is_a_schema() -> None:
    """It fits the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(REQUEST)


@pytest.mark.parametrize("body", BODIES, ids=json.dumps)
def test_two_validators_agree(body: object) -> None:
    """Both validators accept or refuse a body alike."""
    assert SLOW.is_valid(body) == FAST.is_valid(body)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in _places(member, (*path, key)))]


WHOLE = request(
    user("hi", IMAGE),
    assistant(THOUGHT, block("redacted_thinking", data="d"), "x", SEARCH, FOUND, call("a"), call("b")),
    user(result("a", content=[text("x"), IMAGE]), result("b", is_error=True), "y"),
    system("s"),
    assistant("x"),
    system=[text("s")],
    tools=[
        tool(description="d", strict=False),
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "mcp_toolset", "mcp_server_name": "m", "configs": {"f": {"enabled": False}}},
    ],
    mcp_servers=[{"type": "url", "name": "m", "url": "https://m.example/sse"}],
    tool_choice={"type": "tool", "name": "f"},
    thinking={"type": "enabled", "budget_tokens": 1024},
    thread={"type": "continue", "previous_message_id": "msg_1"},
    metadata={"user_id": "u"},
    stop_sequences=["x"],
    output_config={"effort": "low"},
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.just(0.5),
    st.sampled_from(["", " ", "a", "user", "text", "tool_use", "tool_result", "thinking", "x_unknown", "continue"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(["role", "type", "text", "name", "content", "id", "tool_use_id", "messages", "thread"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=5,
)


@STEADY
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
    assert all(refusal(problem)["error"]["message"] for problem in problems)


@STEADY
@given(VALUES, st.booleans())
def test_any_body_is_judged(body: object, stateful: bool) -> None:
    """A body that is no request at all is refused, not stumbled over, by a service too."""
    assert judge(body)
    assert service(stateful).judge(body)


def test_half_a_surrogate_pair_is_refused() -> None:
    """A member name that UTF-8 cannot hold makes the body unreadable."""
    assert ["body-is-an-object"] == [problem.rule for problem in judge(request(**{"\ud83d": 1}))]


@pytest.mark.parametrize("faulty", ["tools", "mcp_servers"])
def test_what_leans_on_a_faulty_member_is_not_blamed(faulty: str) -> None:
    """Where the tools or the MCP servers are no list at all, nobody is told that the others name none of them."""
    assert [f"/{faulty}"] == [problem.pointer for problem in judge({**WHOLE, faulty: "x"})]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"x": 1, "messages": [], "model": 1}, "max_tokens: Field required"),
        (request(USER, x=1, system=5), "system: Input should be a valid string or a valid list"),
        (request(x=1), "x: Extra inputs are not permitted"),
        (request("x"), "messages.0: Input does not match the expected shape."),
        (request(messages=[]), "messages: at least one message is required"),
        (request(user("")), "messages: text content blocks must be non-empty"),
        (
            request(USER, assistant(call("a", input="{}")), user(result("a"))),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            request(USER, assistant(call("a", id="a b")), user(result("a b"))),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (request(tools=[{"name": "f"}]), "tools.0.custom.input_schema: Field required"),
        (
            request(tools=[tool(input_schema={"type": "array"})]),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (request({**USER, "role": "tool"}), "messages.0.role: Input should be 'user', 'assistant' or 'system'"),
        (
            request(tools=[{"type": "function"}]),
            (
                "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: "
                "'custom', 'web_search_20260318', …"
            ),
        ),
        (
            request(USER, assistant(call("a")), user(result("a", content="", is_error=True))),
            "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
        ),
        (request(temperature=2), "temperature: Input should be less than or equal to 1"),
        (
            request(
                mcp_servers=[{"type": "url", "name": name, "url": "https://m.example/sse"} for name in "mn"],
                tools=[{"type": "mcp_toolset", "mcp_server_name": "n"}],
            ),
            "MCP server 'm' is defined but not referenced by any `mcp_toolset` in `tools`.",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_faults_are_told_in_the_services_words(body: object, first: str) -> None:
    """The first problem is what is missing at the top, then goes field by field, then to what is unknown."""
    assert first == judge(body)[0].message
