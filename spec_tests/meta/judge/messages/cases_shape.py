"""The smallest Messages bodies that break each rule on the shape, beside the nearest ones that break none."""

from __future__ import annotations

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
    without,
)

_SEARCH_TOOL = {"type": "web_search_20250305", "name": "web_search"}
_ADDITION = block(
    "tool_addition", tool={"type": "tool_definition", "definition": {"type": "mcp_toolset", "mcp_server_name": "m"}}
)


def _server(name: str = "m", /, **members: object) -> dict[str, object]:
    """An MCP server with this name, whose members may be put in place of the usual ones."""
    return {"type": "url", "name": name, "url": "https://m.example/sse", **members}


def _toolset(server: str = "m", /, **members: object) -> dict[str, object]:
    """A toolset with the tools of the MCP server with this name."""
    return {"type": "mcp_toolset", "mcp_server_name": server, **members}


EPHEMERAL = {"type": "ephemeral"}
MARKED = {"type": "text", "text": "Remember this.", "cache_control": EPHEMERAL}
_CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


def _of(part: object) -> dict[str, object]:
    """A schema with this one in it."""
    return {"type": "object", "properties": {"x": {"anyOf": [part, {"type": "null"}]}}}


def _output(schema: object) -> dict[str, object]:
    """The configuration of an output with this schema."""
    return {"format": {"type": "json_schema", "schema": schema}}


_MCP = request(mcp_servers=[_server()], tools=[_toolset()])


def _asked(**members: object) -> dict[str, object]:
    """A request with a call and its result, the call changed."""
    return request(USER, assistant(call("a", **members)), user(result("a")))


def _answered(**members: object) -> dict[str, object]:
    """The same, with the result changed."""
    return request(USER, assistant(call("a")), user(result("a", **members)))


CASES: tuple[tuple[str, object, object], ...] = (
    ("body-is-an-object", [], request()),
    ("body-is-an-object", None, None),
    ("surrogates-come-in-pairs", request(user("cut \ud83d")), request(user("whole \U0001f600"))),
    ("surrogates-come-in-pairs", request(user(text("\ude00")), x=1), None),
    ("surrogates-come-in-pairs", _answered(content="\ude00\ud83d"), _asked(input={"big": 10**30})),
    ("model-is-named", without(request(), "model"), request()),
    ("model-is-named", request(model=""), None),
    ("model-is-named", request(model=None), None),
    ("tokens-are-limited", without(request(), "max_tokens"), request()),
    ("tokens-are-limited", request(max_tokens=-1), request(max_tokens=1)),
    ("tokens-are-limited", request(max_tokens="9"), None),
    ("messages-are-a-filled-list", without(request(), "messages"), request()),
    ("messages-are-a-filled-list", request(messages=[]), None),
    ("messages-are-a-filled-list", request(messages=None), None),
    ("parameters-are-known", request(max_completion_tokens=1), request(stop_sequences=["x"])),
    ("parameters-are-known", request(x=None), request(system=None)),
    ("parameters-are-known", request({**USER, "name": "u"}), None),
    ("parameters-are-known", _asked(index=0), _asked(caller={"type": "direct"}, x_unknown=1)),
    ("parameters-are-known", _answered(name="f"), _answered(is_error=True, cache_control={"type": "ephemeral"})),
    ("parameters-are-known", request(tools=[tool(parameters={})]), request(tools=[tool(strict=False)])),
    ("parameters-are-known", request(metadata={"x": 1}), request(metadata={"user_id": "u"})),
    ("roles-are-known", request({**USER, "role": "tool"}), request(USER, system("s"))),
    ("roles-are-known", request({"content": "x"}), None),
    ("content-is-text-or-blocks", request({"role": "user"}), request(user("x"))),
    ("content-is-text-or-blocks", request({**USER, "content": None}), None),
    ("content-is-text-or-blocks", request({**USER, "content": {}}), None),
    ("content-is-text-or-blocks", request({**USER, "content": ["x"]}), None),
    ("content-is-text-or-blocks", request(user(block("image"))), request(user(IMAGE))),
    ("content-is-text-or-blocks", request(user(block("search_result"))), None),
    ("content-is-text-or-blocks", request(USER, assistant(without(SEARCH, "id"))), request(USER, assistant(SEARCH))),
    (
        "content-is-text-or-blocks",
        request(USER, assistant({**SEARCH, "type": "mcp_tool_use"})),
        request(USER, assistant({**SEARCH, "type": "mcp_tool_use", "server_name": "m"})),
    ),
    (
        "content-is-text-or-blocks",
        request(USER, assistant(SEARCH, without(FOUND, "tool_use_id"))),
        request(USER, assistant(SEARCH, FOUND)),
    ),
    ("blocks-are-known", request(user(block("input_text", text="x"))), request(user(text("x")))),
    ("blocks-are-known", request(user({"text": "x"})), None),
    ("blocks-are-known", request(USER, assistant(block("x_unknown", id="u"))), None),
    ("texts-are-filled", request(user("")), request(user("."))),
    ("texts-are-filled", request(user({"type": "text"})), None),
    ("texts-are-filled", request(system=[text("")]), request(system=[text("s")])),
    ("texts-are-filled", _answered(content=[text("")]), _answered(content="")),
    ("calls-are-whole", request(USER, assistant(without(call("a"), "name")), user(result("a"))), _asked()),
    ("calls-are-whole", _asked(name=""), _asked(name="x" * 200)),
    ("calls-are-whole", _asked(name="x" * 201), _asked(name="not.offered")),
    ("input-is-an-object", _asked(input="{}"), _asked(input={"x": [1]})),
    ("input-is-an-object", _asked(input=None), None),
    ("input-is-an-object", request(USER, assistant(without(call("a"), "input")), user(result("a"))), None),
    ("ids-are-legal", _asked(id="a b"), _asked(id="a")),
    ("ids-are-legal", _asked(id=""), None),
    ("results-carry-a-call-id", _answered(tool_use_id=None), _answered()),
    ("results-carry-a-call-id", request(USER, assistant(call("a")), user(without(result("a"), "tool_use_id"))), None),
    ("results-are-text-or-blocks", _answered(content={"x": 1}), _answered(content=[text("x"), IMAGE])),
    ("results-are-text-or-blocks", _answered(content=18), _answered(content=[])),
    ("results-are-text-or-blocks", _answered(content=[call("b")]), _answered(content=None)),
    (
        "thinking-is-whole",
        request(USER, assistant(without(THOUGHT, "signature"), "x"), USER),
        request(USER, assistant(THOUGHT, "x"), USER),
    ),
    (
        "thinking-is-whole",
        request(USER, assistant(block("redacted_thinking"), "x"), USER),
        request(USER, assistant(block("redacted_thinking", data="d"), "x"), USER),
    ),
    (
        "tools-are-whole",
        request(tools=[{"type": "function", "function": {"name": "f"}}]),
        request(tools=[tool(type="custom"), _SEARCH_TOOL]),
    ),
    ("tools-are-whole", request(mcp_servers=[_server()], tools=[{"type": "mcp_toolset"}]), _MCP),
    ("tools-are-whole", request(mcp_servers=[_server()], tools=[_toolset(configs={"f": True})]), None),
    (
        "tools-are-whole",
        request(mcp_servers=[_server()], tools=[_toolset(default_config=True)]),
        request(
            mcp_servers=[_server(authorization_token=None)],
            tools=[_toolset(default_config={"enabled": False}, configs={"f": {"enabled": True}})],
        ),
    ),
    ("tools-are-whole", request(tools=[tool("a b")]), request(tools=[tool("a-b")])),
    ("tools-are-whole", request(tools=[tool("x" * 129)]), request(tools=[tool("x" * 128)])),
    ("tools-are-whole", request(tools=[{"name": "f"}]), None),
    (
        "tools-are-whole",
        request(tools=[tool(input_schema={})]),
        request(tools=[tool(input_schema={"type": "object", "properties": {}, "required": []})]),
    ),
    ("tools-are-whole", request(tools=[tool(input_schema={"type": "string"})]), None),
    ("tools-are-whole", request(tools=["f"]), None),
    ("choice-is-known", request(tools=[tool()], tool_choice="auto"), request(tools=[tool()], tool_choice=None)),
    (
        "choice-is-known",
        request(tools=[tool()], tool_choice={"type": "tool"}),
        request(tools=[tool()], tool_choice={"type": "tool", "name": "f"}),
    ),
    (
        "choice-is-known",
        request(tools=[tool()], tool_choice={"type": "required"}),
        request(tools=[tool()], tool_choice={"type": "any", "disable_parallel_tool_use": True}),
    ),
    ("values-fit", request(temperature=1.5), request(temperature=1)),
    ("values-fit", request(stream="true"), request(stream=True)),
    ("values-fit", request(thinking={"type": "enabled"}), request(thinking={"type": "adaptive"})),
    (
        "values-fit",
        request(thinking={"type": "enabled", "budget_tokens": 1023}),
        request(thinking={"type": "enabled", "budget_tokens": 1024}),
    ),
    ("values-fit", request(thread={"type": "continue"}), request(thread={"type": "create"})),
    ("values-fit", request(cache_control={"type": "permanent"}), request(cache_control={"type": "ephemeral"})),
    ("values-fit", request(tools={}), request(tools=[])),
    ("values-fit", request(mcp_servers=[_server(type="stdio")], tools=[_toolset()]), None),
    ("values-fit", request(mcp_servers=[_server(url="http://m.example/sse")], tools=[_toolset()]), None),
    ("values-fit", request(mcp_servers=[without(_server(), "url")], tools=[_toolset()]), None),
    (
        "strict-schemas-are-closed",
        request(tools=[tool(strict=True)]),
        request(tools=[tool(strict=True, input_schema=_CLOSED)]),
    ),
    (
        "strict-schemas-are-closed",
        request(output_config=_output({"type": "object"})),
        request(output_config=_output(_CLOSED)),
    ),
    ("strict-schemas-are-closed", request(output_format=_output({"type": "object"})["format"]), None),
    *(
        (
            "tool-schemas-are-json-schemas",
            request(tools=[tool(), tool("g", input_schema=_of(broken))]),
            request(tools=[tool(), tool("g", input_schema=_of({"default": broken}))]),
        )
        for broken in (
            {"type": "int"},
            {"type": ["string", "object[object]"]},
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            {"type": "array", "items": [{"type": "string"}]},
        )
    ),
    (
        "strict-tools-are-few",
        request(tools=[tool(f"f{n}", strict=True, input_schema=_CLOSED) for n in range(21)]),
        request(tools=[tool(f"f{n}", strict=n < 20, input_schema=_CLOSED) for n in range(30)]),
    ),
    ("tool-names-are-unique", request(tools=[tool("f"), tool("f")]), request(tools=[tool("f"), tool("g")])),
    (
        "cache-marks-are-four-at-most",
        request(tools=[{**tool(name), "cache_control": EPHEMERAL} for name in "abcde"]),
        request(tools=[{**tool(name), "cache_control": EPHEMERAL} for name in "abcd"]),
    ),
    (
        "cache-marks-are-four-at-most",
        request(system=[MARKED] * 3, messages=[{"role": "user", "content": [MARKED] * 2}]),
        request(system=[MARKED] * 2, messages=[{"role": "user", "content": [MARKED] * 2}]),
    ),
    (
        "choice-needs-tools",
        request(tool_choice={"type": "auto"}),
        request(tools=[tool()], tool_choice={"type": "auto"}),
    ),
    ("choice-needs-tools", request(tools=[], tool_choice={"type": "any"}), request(tool_choice={"type": "none"})),
    (
        "forced-tool-is-offered",
        request(tools=[tool("f")], tool_choice={"type": "tool", "name": "g"}),
        request(mcp_servers=[_server()], tools=[tool("f"), _toolset()], tool_choice={"type": "tool", "name": "g"}),
    ),
    ("mcp-servers-are-unique", request(mcp_servers=[_server(), _server()], tools=[_toolset()]), _MCP),
    (
        "mcp-servers-are-used-once",
        request(mcp_servers=[_server(), _server("n")], tools=[_toolset()]),
        request(mcp_servers=[_server(), _server("n")], tools=[_toolset("n"), tool(), _toolset()]),
    ),
    (
        "mcp-servers-are-used-once",
        request(mcp_servers=[_server()], tools=[_toolset(), _toolset()]),
        request(mcp_servers=[]),
    ),
    (
        "mcp-servers-are-used-once",
        request(USER, system("s"), mcp_servers=[_server(), _server("n")], tools=[_toolset("n")]),
        request(USER, system(_ADDITION), mcp_servers=[_server(), _server("n")], tools=[_toolset("n")]),
    ),
    ("mcp-toolsets-name-a-server", request(tools=[_toolset()]), _MCP),
    ("mcp-toolsets-name-a-server", request(mcp_servers=[_server()], tools=[_toolset(), _toolset("n")]), None),
)
"""The rule, a body that breaks it, and one that is as near as can be and breaks none (or None)."""
