"""What the Messages service says of a request that breaks its schema, and of what depends on a faulty member."""

from __future__ import annotations

import pytest

from looptck.wires.anthropic_messages.judge import judge
from meta.judge.messages.bodies import USER, assistant, call, request, result, tool, user
from meta.judge.messages.judged import RICH


def test_messages_are_limited() -> None:
    """A request has at most 100,000 messages."""
    most = [USER] * 100_000

    assert [] == judge(request(*most))
    assert ["messages-are-a-filled-list"] == [problem.rule for problem in judge(request(*most, USER))]


@pytest.mark.parametrize("faulty", ["tools", "mcp_servers"])
def test_what_depends_on_a_faulty_member_is_not_blamed(faulty: str) -> None:
    """Where the tools or the MCP servers are no list at all, the members that name them are not blamed."""
    assert [f"/{faulty}"] == [problem.pointer for problem in judge({**RICH, faulty: "x"})]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"x": 1, "messages": [], "model": 1}, "max_tokens: Field required"),
        (request(USER, x=1, system=5), "system: Input should be a valid string or a valid list"),
        (request(x=1), "x: Extra inputs are not permitted"),
        (request(user("\ud83d"), x=1), "The request body is not valid JSON: no low surrogate in string"),
        (request(user("\ude00"), x=1), "The request body is not valid JSON: invalid high surrogate in string"),
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
def test_faults_have_the_services_words(body: object, first: str) -> None:
    """The first problem is what is missing at the top, then goes field by field, then to what is unknown."""
    assert first == judge(body)[0].message
