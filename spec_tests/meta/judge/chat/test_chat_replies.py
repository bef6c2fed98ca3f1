"""The schemas of what Chat Completions sends: sound, and true of its replies and chunks alone."""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from looptck.catalogue.data import json_fixture

CHUNK = json_fixture("wire-schemas/openai-chat.chunk.json")
RESPONSE = json_fixture("wire-schemas/openai-chat.response.json")
HEAD = {"id": "x", "created": 1, "model": "m"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@pytest.mark.parametrize("schema", [RESPONSE, CHUNK], ids=lambda schema: schema["title"])
def test_a_schema_is_a_schema(schema: dict[str, Any]) -> None:
    """Each schema fits the schema of schemas."""
    jsonschema.Draft202012Validator.check_schema(schema)


def _response(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (RESPONSE, _response({"content": "x"}), True),
        (RESPONSE, _response({"tool_calls": [CALL]}, "tool_calls"), True),
        (RESPONSE, _response({"tool_calls": []}), False),
        (RESPONSE, _response({"tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}]}), False),
        (RESPONSE, _response({"reasoning_content": "x"}), False),
        (RESPONSE, _response({}, "tool_use"), False),
        (CHUNK, _chunk({"role": "assistant", "content": ""}), True),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, **CALL}]}), True),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}), True),
        (CHUNK, _chunk({"tool_calls": [CALL]}), False),
        (CHUNK, _chunk({"tool_calls": [{"index": 0, "function": {"arguments": {}}}]}), False),
        (CHUNK, _chunk({}, "stop"), True),
        (CHUNK, {**_chunk({}), "choices": [], "usage": USAGE}, True),
        (CHUNK, {**HEAD, "object": "chat.completion.chunk"}, False),
    ],
)
def test_replies_fit_and_nothing_else_does(schema: dict[str, Any], value: object, *, fits: bool) -> None:
    """The reply schemas take what the service writes and nothing else."""
    assert fits == jsonschema_rs.validator_for(schema).is_valid(value)
    assert fits == jsonschema.Draft202012Validator(schema).is_valid(value)
