"""The judge of Chat Completions, for the tests that all judges share."""

from __future__ import annotations

from hypothesis import strategies as st

from looptck.wires.openai_chat.judge import RULES, judge
from meta.judge.chat import cases_history, cases_shape, cases_whole, histories
from meta.judge.chat.bodies import USER, asks, part, request, result, tool
from meta.judge.judged import JudgedWire

RICH = request(
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
NAMES = st.sampled_from(["role", "type", "name", "content", "id"])
INNER = st.one_of(LEAVES, st.lists(LEAVES, max_size=2), st.dictionaries(NAMES, LEAVES, max_size=2))
VALUES = st.one_of(INNER, st.lists(INNER, max_size=2), st.dictionaries(NAMES, INNER, max_size=2))


CHAT = JudgedWire(
    name="openai-chat",
    judge=judge,
    rules=RULES,
    cases=cases_shape.CASES + cases_history.CASES,
    whole=cases_whole.WHOLE,
    rich=RICH,
    request=request,
    history="messages",
    refusal_members={"": ["error"], "error": ["message", "type", "param", "code"]},
    values=VALUES,
    legal=histories.LEGAL,
    marked=histories.marked(),
    mutations=histories.MUTATIONS,
)
