"""Good requests that have, between them, every member that the schema knows."""

from __future__ import annotations

from typing import Any

from meta.judge.chat.bodies import USER, asks, call, part, request, result, tool

PARAMETERS = {"type": "object", "properties": {}}
OUTPUT = {"name": "o", "description": "d", "schema": {"type": "object"}, "strict": False}

WHOLE: tuple[dict[str, Any], ...] = (
    request(
        {
            "role": "user",
            "name": "u",
            "content": [
                part("text"),
                part("image_url", image_url={"url": "https://example.org/a.png", "detail": "low"}),
                part("input_audio", input_audio={"data": "x", "format": "wav"}),
                part("file", file={"file_data": "x", "file_id": "f", "filename": "n"}),
            ],
        },
        tools=[
            tool(description="d", strict=False),
            {"type": "custom", "custom": {"name": "g", "description": "d", "format": {"type": "text"}}},
        ],
        tool_choice={
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
        parallel_tool_calls=False,
        response_format={"type": "json_schema", "json_schema": OUTPUT},
        stream=True,
        stream_options={"include_usage": True, "include_obfuscation": False},
        logprobs=True,
        top_logprobs=2,
        metadata={"a": "b"},
        stop=["x"],
    ),
    request(
        {"role": "system", "name": "s", "content": [part("text")]},
        {"role": "developer", "name": "s", "content": [part("text")]},
        USER,
        {
            **asks(call("a"), {"id": "b", "type": "custom", "custom": {"name": "g", "input": "x"}}),
            "name": "n",
            "content": [part("text"), part("refusal", refusal="no")],
            "refusal": "no",
            "audio": {"id": "x"},
        },
        result("a", content=[part("text")]),
        result("b"),
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
        functions=[{"name": "f", "description": "d", "parameters": PARAMETERS, "strict": False}],
        function_call={"name": "f"},
        max_completion_tokens=9,
        n=2,
        temperature=0.2,
        top_p=0.2,
        presence_penalty=0.2,
        frequency_penalty=0.2,
        logprobs=False,
        user="u",
        seed=3,
        moderation={"model": "m", "policy": {}},
        safety_identifier="s",
        prompt_cache_options={"mode": "implicit", "ttl": "1h"},
        prompt_cache_key="k",
        prompt_cache_retention="24h",
        response_format={"type": "text"},
        service_tier="flex",
        reasoning_effort="low",
        logit_bias={"1": 0.2},
        stop="x",
        store=True,
        prediction={"type": "content", "content": "x"},
        verbosity="low",
        modalities=["text"],
        audio={"format": "wav", "voice": "v"},
        web_search_options={"search_context_size": "low", "user_location": {}},
    ),
    request(max_tokens=9, tools=[tool("f")], tool_choice={"type": "function", "function": {"name": "f"}}),
    request(
        tools=[{"type": "custom", "custom": {"name": "g"}}], tool_choice={"type": "custom", "custom": {"name": "g"}}
    ),
    request(tools=[tool("f")], tool_choice="required", functions=[], function_call="none"),
)
