"""The smallest bodies and options that break each rule, beside the nearest ones that break none."""

from __future__ import annotations

from typing import Any

from meta.judge.responses.bodies import (
    USER,
    call,
    custom,
    custom_output,
    namespace,
    output,
    part,
    reference,
    request,
    says,
    thought,
    tool,
)

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}
NAMED = {"type": "function", "name": "f"}
IMAGE = part("input_image", image_url="https://example.org/a.png", detail="auto")


def _format(kind: str, **members: object) -> dict[str, Any]:
    return {"format": {"type": kind, **members}}


def _schema(**members: object) -> dict[str, Any]:
    return _format("json_schema", **{"name": "out", "schema": CLOSED, **members})


CASES: tuple[tuple[str, object, object], ...] = (
    ("body-is-an-object", [], request()),
    ("body-is-an-object", None, None),
    ("model-is-named", {"input": "go"}, {"model": "m", "input": "go"}),
    ("model-is-named", request(model=None), {"prompt": {"id": "pmpt_a"}}),
    ("model-is-named", request(model=""), None),
    ("input-is-text-or-items", {"model": "m"}, {"model": "m", "prompt": {"id": "pmpt_a"}}),
    ("input-is-text-or-items", {"model": "m", "previous_response_id": "resp_a"}, None),
    ("input-is-text-or-items", request(input=None), request(input="go")),
    ("input-is-text-or-items", request(input={"role": "user"}), None),
    ("parameters-are-known", request(messages=[USER]), request()),
    ("parameters-are-known", request(max_tokens=16), request(max_output_tokens=16)),
    ("parameters-are-known", request(stream_options={"include_usage": True}), request(stream=True)),
    ("parameters-are-known", request(text={"x": 1}), request(text={"verbosity": "low"})),
    ("parameters-are-known", request({**USER, "tool_calls": []}), request({**USER, "x_note": 1})),
    ("parameters-are-known", request({**USER, "phase": "commentary"}), request(says(phase="commentary"), USER)),
    ("parameters-are-known", request(call(parsed_arguments=None), output()), request(call(x_a={}), output())),
    ("parameters-are-known", request(says(content=[part("output_text", text="x", parsed=None)])), None),
    ("items-are-of-known-kinds", request({"type": "tool_result"}), request({"type": "message", **USER})),
    ("items-are-of-known-kinds", request({**USER, "type": None}), request({"type": "compaction", "x": 1})),
    ("items-are-of-known-kinds", request({"type": "x_other"}), request({"type": "x_unknown", "id": "u", "y": 1})),
    ("roles-are-known", request({"role": "tool", "content": "x"}), request({"role": "developer", "content": "x"})),
    ("roles-are-known", request({"content": "x"}), None),
    ("content-is-text-or-parts", request({"role": "user"}), request({"role": "user", "content": ""})),
    ("content-is-text-or-parts", request({**USER, "content": None}), request({**USER, "content": []})),
    ("content-is-text-or-parts", request({**USER, "content": [part("text")]}), None),
    (
        "content-is-text-or-parts",
        request({**USER, "content": [part("output_text")]}),
        request({**USER, "content": [part("input_text"), IMAGE]}),
    ),
    (
        "content-is-text-or-parts",
        request(says(content=[part("input_text")])),
        request(says(content=[part("output_text", text="a", annotations=[]), part("refusal", refusal="no")])),
    ),
    ("content-is-text-or-parts", request({**USER, "content": [{"type": "input_text"}]}), None),
    ("calls-are-whole", request({"type": "function_call", "name": "f", "arguments": "{}"}), None),
    ("calls-are-whole", request({"type": "function_call", "call_id": "a", "arguments": "{}"}), None),
    ("calls-are-whole", request(call("")), request(call(id="fc_a", status="completed"), output())),
    ("calls-are-whole", request(custom(call_id=None)), request(custom(namespace=None), custom_output())),
    ("arguments-are-text", request(call(arguments={}), output()), request(call(arguments=""), output())),
    ("arguments-are-text", request(custom(input={}), custom_output()), request(custom(input="{"), custom_output())),
    ("outputs-are-whole", request(call(), output(output={"x": 1})), request(call(), output(output=""))),
    ("outputs-are-whole", request(call(), output(output=None)), None),
    (
        "outputs-are-whole",
        request(call(), output(output=[part("output_text")])),
        request(call(), output(output=[part("input_text"), IMAGE])),
    ),
    ("outputs-are-whole", request({"type": "function_call_output", "output": "x"}), None),
    ("thoughts-are-whole", request({"type": "reasoning", "encrypted_content": "x"}, call(), output()), None),
    (
        "thoughts-are-whole",
        request(thought(None, summary="x"), call(), output()),
        request(thought(None, summary=[part("summary_text")], content=None), call(), output()),
    ),
    ("names-are-legal", request(call(name="a b"), output()), request(call(name="a-b"), output())),
    ("names-are-legal", request(tools=[namespace(tool("a b"))]), request(tools=[namespace(tool("a-b"))])),
    ("names-are-legal", request(tools=[namespace(tool(), name="")]), None),
    ("names-are-legal", request(tools=[tool("")]), request(tools=[tool("a_b")])),
    ("names-are-legal", request(tools=[tool("x" * 65)]), request(tools=[tool("x" * 64)])),
    ("names-are-legal", request(text=_schema(name="a b")), request(text=_schema())),
    ("tools-are-whole", request(tools=[{"type": "function", "function": {"name": "f"}}]), request(tools=[tool()])),
    ("tools-are-whole", request(tools=[{"name": "f"}]), request(tools=[{"type": "web_search"}])),
    ("tools-are-whole", request(tools=[tool(parameters="x")]), request(tools=[tool(parameters=None, strict=None)])),
    ("tools-are-whole", request(tools=[{"type": "custom"}]), request(tools=[{"type": "custom", "name": "f"}])),
    ("tools-are-whole", request(tools=[{"type": "namespace", "name": "n"}]), request(tools=[namespace()])),
    ("tools-are-whole", request(tools=[{"type": "namespace", "tools": []}]), None),
    (
        "tools-are-whole",
        request(tools=[namespace({"type": "web_search"})]),
        request(tools=[namespace({"type": "custom", "name": "f"}, tool("g", defer_loading=True))]),
    ),
    ("tools-are-whole", request(tools=[namespace(namespace())]), None),
    ("tools-are-whole", request(tools=[namespace(description=1)]), request(tools=[namespace(description=None)])),
    ("choice-is-known", request(tools=[tool()], tool_choice="any"), request(tools=[tool()], tool_choice="required")),
    ("choice-is-known", request(tools=[tool()], tool_choice={**NAMED, "name": 1}), request(tool_choice="auto")),
    (
        "choice-is-known",
        request(tools=[tool()], tool_choice={"type": "function", "function": {"name": "f"}}),
        request(tools=[tool()], tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [NAMED]}),
    ),
    ("values-fit", request(temperature="hot"), request(temperature=2)),
    ("values-fit", request(max_output_tokens=15), request(max_output_tokens=16)),
    ("values-fit", request(include=["everything"]), request(include=["reasoning.encrypted_content"])),
    ("values-fit", request(reasoning={"effort": "huge"}), request(reasoning={"effort": "xhigh", "summary": "auto"})),
    ("values-fit", request(truncation="some"), request(truncation="auto")),
    ("values-fit", request(client_metadata="x"), request(client_metadata={"installation": "1", "n": 1})),
    ("values-fit", request(metadata={"a": 1}), request(metadata={"a": "1"})),
    ("values-fit", request(text=_format("json_schema")), request(text=_format("text"))),
    ("values-fit", request({"type": "item_reference"}), request(reference("msg_a"))),
    ("values-fit", request(7), None),
    ("choice-needs-tools", request(tool_choice="required"), request(tools=[tool()], tool_choice="required")),
    ("forced-tool-is-offered", request(tool_choice=NAMED), request(tools=[tool()], tool_choice=NAMED)),
    (
        "forced-tool-is-offered",
        request(tools=[tool("g")], tool_choice=NAMED),
        request(tools=[{"type": "tool_search"}], tool_choice=NAMED),
    ),
    (
        "forced-tool-is-offered",
        request(tools=[tool("g")], tool_choice=NAMED),
        request(tools=[namespace(tool())], tool_choice=NAMED),
    ),
    (
        "parameters-describe-an-object",
        request(tools=[namespace(tool(parameters={"type": "object"}))]),
        request(tools=[namespace(tool())]),
    ),
    (
        "strict-schemas-are-closed",
        request(tools=[namespace(tool(strict=True))]),
        request(tools=[namespace(tool(strict=True, parameters=CLOSED))]),
    ),
    (
        "parameters-describe-an-object",
        request(tools=[tool(parameters={"type": "string"})]),
        request(tools=[tool(parameters={})]),
    ),
    (
        "parameters-describe-an-object",
        request(tools=[tool(parameters={"type": "object"})]),
        request(tools=[tool(parameters={"type": "object", "properties": {}})]),
    ),
    (
        "strict-schemas-are-closed",
        request(tools=[tool(strict=True)]),
        request(tools=[tool(strict=True, parameters=CLOSED)]),
    ),
    (
        "strict-schemas-are-closed",
        request(tools=[tool(strict=True, parameters={**CLOSED, "additionalProperties": True})]),
        request(tools=[tool(strict=True, parameters={**tool()["parameters"], "required": ["x"]})]),
    ),
    (
        "strict-schemas-are-closed",
        request(text=_schema(strict=True, schema={**CLOSED, "required": []})),
        request(text=_schema(strict=True)),
    ),
    (
        "json-mode-mentions-json",
        request(input="go", instructions="Answer in JSON.", text=_format("json_object")),
        request(previous_response_id="resp_a", text=_format("json_object")),
    ),
    ("something-is-asked", request(input=[]), request(input=[], previous_response_id="resp_a")),
    ("something-is-asked", request(input=""), request(input="", conversation={"id": "conv_a"})),
    ("one-memory", request(previous_response_id="resp_a", conversation="conv_a"), request(conversation="conv_a")),
)
"""The rule, a body that breaks it and no other before it, and a body that breaks none."""
