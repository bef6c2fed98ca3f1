"""The judge of Responses, for the tests that all judges share."""

from __future__ import annotations

from hypothesis import strategies as st

from looptck.values.turns import Call, Thinking, turn
from looptck.wires.openai_responses.judge import RULES, judge
from meta.judge.judged import JudgedWire
from meta.judge.responses import cases_history, cases_shape, cases_whole, histories
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

SENT = turn(Thinking("hm"), Call.of("f")).numbered(1)
RICH = request(
    {"role": "system", "content": [part("input_text")]},
    USER,
    thought("rs_thought_1a", encrypted_content=SENT.pieces[0].signature),  # type: ignore[union-attr]
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
INNER = st.one_of(LEAVES, st.lists(LEAVES, max_size=2), st.dictionaries(NAMES, LEAVES, max_size=2))
VALUES = st.one_of(INNER, st.lists(INNER, max_size=2), st.dictionaries(NAMES, INNER, max_size=2))


RESPONSES = JudgedWire(
    name="openai-responses",
    judge=judge,
    rules=RULES,
    with_state={
        "conversations-are-known",
        "previous-response-is-kept",
        "items-come-with-their-thought",
        "items-are-kept",
        "thoughts-are-the-services",
    },
    cases=cases_shape.CASES + cases_history.CASES,
    whole=cases_whole.WHOLE,
    rich=RICH,
    request=request,
    history="input",
    refusal_members={"": ["error"], "error": ["message", "type", "param", "code"]},
    values=VALUES,
    legal=histories.LEGAL,
    marked=histories.marked(),
    mutations=histories.MUTATIONS,
)
