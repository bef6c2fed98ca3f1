"""The smallest bodies and options that break each rule, beside the nearest ones that break none."""

from __future__ import annotations

from typing import Any

from meta.judge.chat.bodies import IMAGE, USER, part, request, tool

CLOSED = {
    "type": "object",
    "properties": {"x": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}
OPEN = {**CLOSED, "additionalProperties": True}
NAMED: dict[str, Any] = {"type": "function", "function": {"name": "f"}}


def _output(**members: object) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "out", **members}}


CASES: tuple[tuple[str, object, object], ...] = (
    ("body-is-an-object", [], request()),
    ("body-is-an-object", None, None),
    ("model-is-named", {"messages": [USER]}, request()),
    ("model-is-named", request(model=""), None),
    ("model-is-named", request(model=None), None),
    ("messages-are-a-filled-list", {"model": "m"}, request()),
    ("messages-are-a-filled-list", request(messages=[]), None),
    ("messages-are-a-filled-list", request(messages=None), None),
    ("parameters-are-known", request(reasoning={}), request(reasoning_effort="low")),
    ("parameters-are-known", request(x=None), request(user=None)),
    (
        "parameters-are-known",
        request(stream=True, stream_options={"x": 1}),
        request(stream=True, stream_options={"include_usage": True, "include_obfuscation": False}),
    ),
    ("parameters-are-known", request(response_format={"type": "text", "strict": True}), None),
    ("roles-are-known", request({"role": "bot", "content": "x"}), request({"role": "developer", "content": "x"})),
    ("roles-are-known", request({"content": "x"}), None),
    ("content-is-text-or-parts", request({**USER, "content": {}}), request({**USER, "content": [part("text")]})),
    ("content-is-text-or-parts", request({**USER, "content": [{"text": "x"}]}), None),
    ("content-is-text-or-parts", request({**USER, "content": [part("input_text")]}), None),
    (
        "content-is-text-or-parts",
        request({**USER, "content": [part("image_url", image_url="x")]}),
        request({**USER, "content": [IMAGE]}),
    ),
    ("content-is-text-or-parts", request({"role": "system", "content": [IMAGE]}), None),
    ("content-is-text-or-parts", request({"role": "developer"}), None),
    (
        "content-is-text-or-parts",
        request({"role": "assistant", "content": [part("image_url", image_url={"url": "x"})]}),
        request({"role": "assistant", "content": [part("text"), part("refusal", refusal="no")]}),
    ),
    ("participants-are-legal", request({**USER, "name": "a b"}), request({**USER, "name": "a.b"})),
    ("names-are-legal", request(tools=[tool("a b")]), request(tools=[tool("a-b")])),
    ("names-are-legal", request(tools=[tool("")]), request(tools=[tool("f")])),
    ("names-are-legal", request(tools=[tool("x" * 65)]), request(tools=[tool("x" * 64)])),
    ("names-are-legal", request(functions=[{"name": "a.b"}]), request(functions=[{"name": "ab"}])),
    ("tools-are-whole", request(tools=[{"type": "function", "name": "f"}]), request(tools=[{**tool(), "name": "f"}])),
    ("tools-are-whole", request(tools=[{"function": {"name": "f"}}]), None),
    ("tools-are-whole", request(tools=[{"type": "web_search"}]), None),
    ("tools-are-whole", request(tools=[tool(parameters=[])]), request(tools=[tool(parameters=None)])),
    (
        "tools-are-whole",
        request(tools=[{"type": "custom"}]),
        request(tools=[{"type": "custom", "custom": {"name": "f"}}]),
    ),
    ("choice-is-known", request(tools=[tool()], tool_choice="any"), request(tools=[tool()], tool_choice="required")),
    ("choice-is-known", request(tools=[tool()], tool_choice={"type": "function", "name": "f"}), None),
    ("choice-is-known", request(tools=[tool()], tool_choice={"type": "tool", "name": "f"}), None),
    ("choice-is-known", request(tools=[tool()], tool_choice=7), request(tools=[tool()], tool_choice=None)),
    ("choice-is-known", request(functions=[{"name": "f"}], function_call={}), None),
    ("values-fit", request(temperature="hot"), request(temperature=2)),
    ("values-fit", request(n=0), request(n=1)),
    ("values-fit", request(service_tier="best"), request(service_tier="flex")),
    ("values-fit", request(stop=["a"] * 5), request(stop=["a"] * 4)),
    ("values-fit", request(metadata={"a": 1}), request(metadata={"a": "1"})),
    ("values-fit", request(response_format={"type": "json_schema"}), request(response_format=_output())),
    ("values-fit", request(tools=[tool(f"f{n}") for n in range(129)]), request(tools=[])),
    ("choice-needs-tools", request(tool_choice="auto"), request(tools=[tool()], tool_choice="auto")),
    ("choice-needs-tools", request(parallel_tool_calls=False), request(tools=[tool()], parallel_tool_calls=False)),
    ("choice-needs-tools", request(tools=None, tool_choice="none"), request(tools=[], tool_choice="none")),
    (
        "forced-tool-is-offered",
        request(tools=[tool("g")], tool_choice=NAMED),
        request(tools=[tool("f")], tool_choice=NAMED),
    ),
    (
        "forced-tool-is-offered",
        request(tools=[], tool_choice=NAMED),
        request(tools=[{"type": "custom", "custom": {"name": "g"}}, tool("f")], tool_choice=NAMED),
    ),
    ("function-call-needs-functions", request(function_call="auto"), request(functions=[], function_call="auto")),
    (
        "forced-function-is-offered",
        request(functions=[{"name": "g"}], function_call={"name": "f"}),
        request(functions=[{"name": "f"}], function_call={"name": "f"}),
    ),
    ("parameters-describe-an-object", request(tools=[tool(parameters={"type": "object"})]), request(tools=[tool()])),
    ("parameters-describe-an-object", request(tools=[tool(parameters={"properties": {}})]), None),
    ("parameters-describe-an-object", request(functions=[{"name": "f", "parameters": {"type": "array"}}]), None),
    (
        "strict-schemas-are-closed",
        request(tools=[tool(strict=True, parameters=OPEN)]),
        request(tools=[tool(strict=True, parameters=CLOSED)]),
    ),
    (
        "strict-schemas-are-closed",
        request(tools=[tool(strict=True, parameters={**CLOSED, "required": []})]),
        request(tools=[tool(strict=False, parameters=OPEN)]),
    ),
    (
        "strict-schemas-are-closed",
        request(response_format=_output(strict=True, schema=OPEN)),
        request(response_format=_output(strict=True, schema=CLOSED)),
    ),
    (
        "stream-options-need-a-stream",
        request(stream_options={"include_usage": True}),
        request(stream_options={"include_usage": True}, stream=True),
    ),
    ("stream-options-need-a-stream", request(stream_options={}, stream=False), request(stream_options=None)),
    ("one-token-limit", request(max_tokens=1, max_completion_tokens=1), request(max_completion_tokens=1)),
    ("top-logprobs-need-logprobs", request(top_logprobs=1), request(top_logprobs=1, logprobs=True)),
    (
        "json-mode-mentions-json",
        request(response_format={"type": "json_object"}),
        request({**USER, "content": [part("text", text="Say JSON.")]}, response_format={"type": "json_object"}),
    ),
)
