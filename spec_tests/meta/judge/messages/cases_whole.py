"""Good requests that have, between them, every member that the schema knows."""

from __future__ import annotations

from typing import Any

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

CACHED = {"type": "ephemeral", "ttl": "5m"}
FORMAT = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
SCHEMA = {"type": "object", "properties": {}, "required": ["x"]}

WHOLE: tuple[dict[str, Any], ...] = (
    request(
        user(text("hi", citations=[], cache_control=CACHED)),
        {
            **assistant(
                THOUGHT,
                block("redacted_thinking", data="x"),
                {**SEARCH, "caller": {"type": "direct"}, "cache_control": None},
                {**FOUND, "is_error": False, "caller": {"type": "direct"}, "cache_control": None},
                block("mcp_tool_use", id="mcptoolu_1", name="f", input={}, server_name="s"),
                block("mcp_tool_result", tool_use_id="mcptoolu_1", content=[]),
                call("a", caller={"type": "direct"}, toolset_name="t", cache_control=CACHED),
                call("b"),
            ),
            "output_config": {},
        },
        {
            **user(
                result("a", content=[text(), IMAGE], is_error=False, toolset_name="t", cache_control=CACHED),
                result("b"),
                block("document", source={"type": "text", "data": "x"}),
                block("search_result", source="s", title="t", content=[text()]),
                block("container_upload", file_id="f"),
            ),
            "clear_at": "never",
        },
        system(block("tool_addition", tool={})),
        system="be good",
        tools=[
            tool(
                "f",
                type="custom",
                description="d",
                input_schema=SCHEMA,
                allowed_callers=[],
                cache_control=CACHED,
                defer_loading=False,
                eager_input_streaming=False,
                input_examples=[{}],
                strict=False,
            ),
            {"type": "web_search_20250305", "name": "web_search"},
            {
                "type": "mcp_toolset",
                "mcp_server_name": "s",
                "default_config": {},
                "configs": {"f": {}},
                "tools": [{}],
                "cache_control": None,
            },
        ],
        tool_choice={"type": "tool", "name": "f", "disable_parallel_tool_use": True},
        stream=True,
        temperature=0.2,
        top_p=0.2,
        top_k=3,
        stop_sequences=["x"],
        thinking={"type": "enabled", "budget_tokens": 2000},
        metadata={"user_id": "u"},
        service_tier="auto",
        speed="fast",
        cache_control=CACHED,
        output_config={"effort": "low", "format": FORMAT, "task_budget": {}},
        thread={"type": "continue", "previous_message_id": "msg_1"},
        container="c",
        mcp_servers=[
            {
                "type": "url",
                "name": "s",
                "url": "https://example.org",
                "authorization_token": "x",
                "tool_configuration": {},
            }
        ],
        context_management={"edits": []},
        compaction={"type": "summarize"},
        diagnostics={},
        billing_policy={},
        fallbacks=[],
        fallback_credit_token="x",  # noqa: S106  a word of the wire
        inference_geo="g",
        user_profile_id="u",
    ),
    request(
        system=[text("be good")],
        tools=[tool("f")],
        tool_choice={"type": "any"},
        output_format=FORMAT,
        thinking={"type": "adaptive"},
        thread={"type": "create"},
    ),
)
