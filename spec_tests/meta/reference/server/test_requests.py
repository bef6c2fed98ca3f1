"""Requests of the three APIs, as the model gets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from looptck_reference.server import Config, SearchIndex, Simulator
from looptck_reference.server.errors import Refused
from meta.reference.server.serving import Json, World, call, turn

SCHEMA: Json = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION: Json = {"type": "function", "function": {"name": "weather", "description": "W.", "parameters": SCHEMA}}
IMAGE = "data:image/png;base64,AAAA"


def asked(world: Callable[..., World], path: str, body: Json, **config: Any) -> Json:
    """The first request to the model."""
    here = world(turn("Hello."), **{"dispatch": False, **config})
    response = here.request("POST", path, json={"model": "m", **body})
    assert 200 == response.status_code, response.text
    return here.outside.asked[0]


def test_messages_are_told_in_the_words_of_chat(world: Callable[..., World]) -> None:
    """Text, images, calls and results, and the instructions in front."""
    body: Json = {
        "max_tokens": 50,
        "temperature": 0.5,
        "stop_sequences": ["x"],
        "metadata": {"user_id": "u"},
        "system": [{"type": "text", "text": "Be short."}],
        "tools": [{"name": "weather", "description": "W.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look:"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    {"type": "image", "source": {"type": "url", "url": "https://images.test/1.png"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "20"}]},
                    {"type": "text", "text": "And?"},
                ],
            },
        ],
    }

    sent = asked(world, "/v1/messages", body)

    assert {
        "model": "m",
        "max_tokens": 50,
        "temperature": 0.5,
        "stop": ["x"],
        "parallel_tool_calls": False,
        "tools": [FUNCTION],
        "tool_choice": "required",
        "messages": [
            {"role": "system", "content": "Be short."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look:"},
                    {"type": "image_url", "image_url": {"url": IMAGE}},
                    {"type": "image_url", "image_url": {"url": "https://images.test/1.png"}},
                ],
            },
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call("weather", {"city": "Rome"}, "t1")]},
            {"role": "tool", "tool_call_id": "t1", "content": "20"},
            {"role": "user", "content": "And?"},
        ],
    } == sent


def test_responses_are_told_in_the_words_of_chat(world: Callable[..., World]) -> None:
    """Items that stand together are one turn."""
    body: Json = {
        "instructions": "Be short.",
        "max_output_tokens": 50,
        "tools": [{"type": "function", "name": "weather", "description": "W.", "parameters": SCHEMA, "strict": None}],
        "tool_choice": {"type": "function", "name": "weather"},
        "input": [
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": IMAGE}],
            },
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
            {"type": "function_call", "call_id": "t1", "name": "weather", "arguments": '{"city":"Rome"}'},
            {"type": "function_call", "call_id": "t2", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t1", "output": "20"},
            {"type": "function_call_output", "call_id": "t2", "output": [{"type": "input_text", "text": "21"}]},
        ],
    }

    sent = asked(world, "/v1/responses", body)

    calls = [call("weather", {"city": "Rome"}, "t1"), call("weather", {}, "t2")]
    assert {
        "model": "m",
        "max_completion_tokens": 50,
        "tools": [FUNCTION],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "messages": [
            {"role": "system", "content": "Be short."},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
            },
            {"role": "assistant", "content": "Let me see.", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "t1", "content": "20"},
            {"role": "tool", "tool_call_id": "t2", "content": '[{"type": "input_text", "text": "21"}]'},
        ],
    } == sent


@pytest.mark.parametrize(
    ("path", "tool", "body"),
    [
        ("/v1/chat/completions", {"type": "web_search"}, {"messages": [{"role": "user", "content": "?"}]}),
        (
            "/v1/messages",
            {"type": "web_search_20250305", "name": "web_search"},
            {"messages": [{"role": "user", "content": "?"}], "max_tokens": 9},
        ),
        ("/v1/responses", {"type": "web_search_preview"}, {"input": "?"}),
    ],
)
def test_built_in_tools_go_to_the_server_and_not_to_the_model(
    world: Callable[..., World], path: str, tool: Json, body: Json
) -> None:
    """In the words of each API."""
    sent = asked(world, path, {**body, "tools": [tool]}, search=SearchIndex())

    assert ["mistralrs_search_the_web"] == [one["function"]["name"] for one in sent["tools"]]


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("chat/completions", {}, "messages"),
        ("chat/completions", {"messages": []}, "messages"),
        ("chat/completions", {"messages": [{"role": "x"}]}, "messages[0].role"),
        ("chat/completions", {"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ("chat/completions", {"messages": [{"role": "user"}], "stream": "yes"}, "stream"),
        ("chat/completions", {"messages": [{"role": "user"}], "n": 2}, "n"),
        ("chat/completions", {"messages": [{"role": "user"}], "max_tool_rounds": -1}, "max_tool_rounds"),
        ("chat/completions", {"messages": [{"role": "user"}], "max_tool_rounds": True}, "max_tool_rounds"),
        ("chat/completions", {"messages": [{"role": "user"}], "agent_permission": "x"}, "agent_permission"),
        ("chat/completions", {"messages": [{"role": "user"}], "tools": [{"type": "x"}]}, "tools[0].type"),
        ("chat/completions", {"messages": [{"role": "user"}], "tools": [{"type": "function"}]}, "tools[0].function"),
        (
            "chat/completions",
            {"messages": [{"role": "user"}], "tools": [{"type": "function", "function": {}}]},
            "tools[0].function.name",
        ),
        ("messages", {"messages": [{"role": "user", "content": "?"}]}, "max_tokens"),
        (
            "messages",
            {"messages": [{"role": "user", "content": [{"type": "x"}]}], "max_tokens": 1},
            "messages[0].content[0].type",
        ),
        ("messages", {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1, "tools": [{}]}, "tools[0].name"),
        (
            "messages",
            {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1, "tools": [{"name": 5}]},
            "tools[0].name",
        ),
        (
            "messages",
            {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1, "tool_choice": {"type": "x"}},
            "tool_choice.type",
        ),
        ("responses", {}, "input"),
        ("responses", {"input": [{"type": "x"}]}, "input[0].type"),
        ("responses", {"input": [{"role": "user", "content": 3}]}, "input[0].content"),
        ("responses", {"input": "?", "previous_response_id": "r"}, "previous_response_id"),
        ("responses", {"input": "?", "max_tool_calls": 3}, "max_tool_calls"),
        ("responses", {"input": "?", "tool_choice": {"type": "x"}}, "tool_choice.type"),
        ("responses", {"input": [{"role": "x", "content": "?"}]}, "input[0].role"),
        ("responses", {"input": [{"role": {}, "content": "?"}]}, "input[0].role"),
        ("responses", {"input": [{"type": "function_call", "name": "n", "arguments": "{}"}]}, "input[0].call_id"),
        ("responses", {"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ("responses", {"input": "?", "tools": [{"type": "function"}]}, "tools[0].name"),
    ],
)
def test_a_wrong_member_is_named(world: Callable[..., World], path: str, body: Json, param: str) -> None:
    """And the model is not asked."""
    here = world()

    response = here.request("POST", f"/v1/{path}", json={"model": "m", **body})

    error = response.json()["error"]
    assert (422, param, []) == (response.status_code, error["param"], here.outside.asked)
    assert param in error["message"]


@pytest.mark.parametrize("path", ["chat/completions", "messages", "responses"])
@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b"", 422), (b"[]", 422), (b"\xff", 400), (b"[" * 100_000, 400)],
    ids=["half", "nothing", "array", "no-text", "deep"],
)
def test_a_body_that_is_no_object_is_refused(
    world: Callable[..., World], path: str, content: bytes, status: int
) -> None:
    """In the words of its API."""
    response = world().request("POST", f"/v1/{path}", content=content, headers={"content-type": "application/json"})

    told = response.json()
    assert (status, "invalid_request_error") == (response.status_code, told["error"]["type"])
    assert (path == "messages") == ("type" in told)


def test_unknown_paths_and_methods_are_refused_in_the_same_words(world: Callable[..., World]) -> None:
    """As any error."""
    here = world()

    told = [here.request("GET", path) for path in ("/v1/nothing", "/v1/chat/completions")]

    assert [(404, "Not Found"), (405, "Method Not Allowed")] == [
        (one.status_code, one.json()["error"]["message"]) for one in told
    ]


def test_a_key_of_the_server_s_own_goes_to_the_model(world: Callable[..., World]) -> None:
    """And the client's does not."""
    here = world(turn("1"), turn("2"), upstream_key="server")

    here.chat(headers={"x-api-key": "client"})

    assert ["Bearer server"] == [headers["authorization"] for headers in here.outside.asked_with]


def test_models_and_health(world: Callable[..., World]) -> None:
    """What the server was started with, and what it holds."""
    here = world(turn("1"), models=("a", "b"))
    here.chat()

    models = [one["id"] for one in here.request("GET", "/v1/models").json()["data"]]
    health = here.request("GET", "/health").json()

    assert (["a", "b"], {"status": "ok", "runs": 0, "sessions": 1, "files": 0, "approvals": 0}) == (models, health)


def test_a_server_has_a_default_for_everything_but_the_model() -> None:
    """So that a test says only what it is about."""
    config = Simulator(Config(upstream="http://127.0.0.1:1/v1")).config

    assert (None, False, (), "auto") == (config.search, config.code, config.callbacks, config.permission)


@pytest.mark.parametrize(("status", "kind"), [(499, "invalid_request_error"), (500, "server_error")])
def test_the_kind_of_an_error(status: int, kind: str) -> None:
    """From 500 on it is the server's."""
    assert kind == Refused(status, "no").type
