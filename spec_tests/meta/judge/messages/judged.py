"""The judge of Messages, for the tests that all judges share."""

from __future__ import annotations

from hypothesis import strategies as st

from looptck.wires.anthropic_messages.judge import RULES, judge, memory, threads
from meta.judge.judged import JudgedWire
from meta.judge.messages import cases_history, cases_shape, cases_whole, histories
from meta.judge.messages.bodies import (
    FOUND,
    IMAGE,
    SEARCH,
    THOUGHT,
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

RICH = request(
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
NAMES = st.sampled_from(["role", "type", "text", "name", "content", "id", "tool_use_id", "messages", "thread"])
INNER = st.one_of(LEAVES, st.lists(LEAVES, max_size=2), st.dictionaries(NAMES, LEAVES, max_size=2))
VALUES = st.one_of(INNER, st.lists(INNER, max_size=2), st.dictionaries(NAMES, INNER, max_size=2))


MESSAGES = JudgedWire(
    name="anthropic-messages",
    judge=judge,
    rules=RULES,
    with_state={*memory.RULES, *threads.RULES},
    cases=cases_shape.CASES + cases_history.CASES,
    whole=cases_whole.WHOLE,
    rich=RICH,
    request=request,
    history="messages",
    refusal_members={"": ["type", "error", "request_id"], "error": ["type", "message"]},
    values=VALUES,
    legal=histories.LEGAL,
    marked=histories.marked(),
    mutations=histories.MUTATIONS,
)
