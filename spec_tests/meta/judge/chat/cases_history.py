"""The smallest histories that break each rule, beside the nearest ones that break none."""

from __future__ import annotations

from meta.judge.chat.bodies import IMAGE, USER, asks, call, part, request, result

CASES: tuple[tuple[str, object, object], ...] = (
    ("every-call-is-answered", request(USER, asks("a")), request(USER, asks("a"), result("a"))),
    (
        "every-call-is-answered",
        request(USER, asks("a", "b"), result("a"), USER),
        request(USER, asks("a", "b"), result("b"), result("a"), USER),
    ),
    (
        "every-call-is-answered",
        request(USER, asks("a", "a"), result("a")),
        request(USER, asks("a", "a"), result("a"), result("a")),
    ),
    (
        "every-call-is-answered",
        request(USER, asks("a"), asks("a"), result("a")),
        request(USER, asks("a"), result("a"), asks("a"), result("a")),
    ),
    (
        "results-follow-their-calls",
        request(USER, asks("a"), USER, result("a")),
        request(USER, asks("a"), result("a"), USER),
    ),
    (
        "results-follow-their-calls",
        request(USER, asks("a", "b"), result("a"), {"role": "system", "content": "s"}, result("b")),
        request(USER, asks("a", "b"), result("a"), result("b"), {"role": "system", "content": "s"}),
    ),
    (
        "results-follow-their-calls",
        request(USER, asks("a", "b"), result("a"), asks("c"), result("b"), result("c")),
        request(USER, asks("a", "b"), result("a"), result("b"), asks("c"), result("c")),
    ),
    ("results-answer-a-call", request(USER, result("a")), request(USER, asks("a"), result("a"))),
    (
        "results-answer-a-call",
        request({"role": "assistant", "content": "x", "tool_calls": None}, result("a")),
        request({"role": "assistant", "content": "x", "tool_calls": None}),
    ),
    (
        "results-name-a-known-call",
        request(USER, asks("a"), result("a"), result("b")),
        request(USER, asks("a", "b"), result("a"), result("b")),
    ),
    (
        "one-result-per-call",
        request(USER, asks("a"), result("a"), result("a")),
        request(USER, asks("a"), result("a")),
    ),
    (
        "one-result-per-call",
        request(USER, asks("a", "a"), result("a"), result("a"), result("a")),
        request(USER, asks("a", "a"), result("a"), result("a")),
    ),
    (
        "results-carry-a-call-id",
        request(USER, asks("a"), result("a"), {"role": "tool", "content": "done"}),
        request(USER, asks("a"), result("a")),
    ),
    (
        "function-results-carry-a-name",
        request({"role": "function", "content": "done"}),
        request({"role": "function", "content": "done", "name": "f"}),
    ),
    (
        "function-results-carry-a-name",
        request({"role": "function", "content": "done", "name": None}),
        request({"role": "function", "content": None, "name": "f"}),
    ),
    ("content-is-present", request({"role": "user"}), request({"role": "user", "content": ""})),
    ("content-is-present", request({"role": "user", "content": None}), request({"role": "user", "content": []})),
    ("content-is-present", request({"role": "system"}), request({"role": "system", "content": "s"})),
    ("content-is-present", request(asks("a"), result("a", content=None)), request(asks("a"), result("a", content=""))),
    ("content-is-present", request({"role": "assistant"}), request({"role": "assistant", "refusal": "no"})),
    (
        "content-is-present",
        request({"role": "assistant", "tool_calls": None, "refusal": None}),
        request({"role": "assistant", "audio": {"id": "x"}}),
    ),
    (
        "content-is-present",
        request({"role": "assistant", "function_call": None}),
        request({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}),
    ),
    (
        "content-is-present",
        request({"role": "user", "refusal": "no"}),
        request({"role": "user", "refusal": "no", "content": "x"}),
    ),
    ("arguments-are-text", request(asks(call("a", function={"name": "f", "arguments": {}})), result("a")), None),
    (
        "arguments-are-text",
        request({"role": "assistant", "function_call": {"name": "f", "arguments": {}}}),
        request({"role": "assistant", "function_call": {"name": "f", "arguments": "15 * 4"}}),
    ),
    (
        "arguments-are-text",
        request(asks(call("a", type="custom", custom={"name": "f", "input": 1})), result("a")),
        request(asks(call("a", type="custom", custom={"name": "f", "input": "1"})), result("a")),
    ),
    (
        "calls-are-a-filled-list",
        request({"role": "assistant", "content": "x", "tool_calls": []}),
        request({"role": "assistant", "content": "x"}),
    ),
    ("calls-are-a-filled-list", request({"role": "assistant", "tool_calls": "x"}), None),
    ("calls-are-whole", request(asks(call("")), result("")), request(asks(call("-")), result("-"))),
    ("calls-are-whole", request(asks({"id": "a", "type": "function"}), result("a")), None),
    ("calls-are-whole", request(asks(call("a", type="tool")), result("a")), None),
    ("calls-are-whole", request(asks(call("a", type="custom")), result("a")), None),
    ("calls-are-whole", request(asks({"id": "a", "function": {"name": "f", "arguments": ""}}), result("a")), None),
    (
        "names-are-legal",
        request(asks(call("a", function={"name": "a.b", "arguments": ""})), result("a")),
        request(asks(call("a", function={"name": "a_b", "arguments": ""}, index=0)), result("a")),
    ),
    ("tool-content-is-text", request(asks("a"), result("a", content={"x": 1})), None),
    ("tool-content-is-text", request(asks("a"), result("a", content=7)), None),
    (
        "tool-content-is-text",
        request(asks("a"), result("a", content=[{"x": 1}])),
        request(asks("a"), result("a", content=[part("text")], name="f")),
    ),
    (
        "tool-content-is-text",
        request(asks("a"), result("a", content=[IMAGE])),
        request(USER, {**USER, "content": [IMAGE]}),
    ),
)
