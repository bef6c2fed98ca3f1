"""The official clients read what the server sends, and are not disturbed by events that they do not know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from meta.reference.server.processes import model, served
from meta.reference.server.serving import call, turn

CALL = call("ping")
PENDING = call("weather", {"city": "Oslo"}, "call_2")
CALLBACK = ("--callback", "meta.reference.server.test_cli:PING", "--max-tool-rounds", "1")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[list[Any], str]]:
    """The turns of the model, to be filled, and the URL of a server."""
    with model() as there, served("--upstream", there.url, *CALLBACK) as (_, url):
        yield there.turns, url


def test_openai_chat(server: tuple[list[Any], str]) -> None:
    """Text and usage of a stream with a round of tools."""
    turns, url = server
    turns += [turn(None, CALL), turn("Done.")]

    with openai.OpenAI(base_url=f"{url}/v1", api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}], stream=True)
        chunks = [chunk for chunk in stream if chunk.object == "chat.completion.chunk"]

    assert "Done." == "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert [26] == [chunk.usage.total_tokens for chunk in chunks if chunk.usage]


def test_openai_responses(server: tuple[list[Any], str]) -> None:
    """The call that is left at the cap, as the accumulator of the client has it."""
    turns, url = server
    turns += [turn(None, CALL), turn("I want ", PENDING)]

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="k") as client,
        client.responses.stream(model="m", input="?") as stream,
    ):
        for _ in stream:
            pass
        response = stream.get_final_response()

    (left,) = [item for item in response.output if item.type == "function_call"]
    assert ("I want ", "weather", '{"city":"Oslo"}') == (response.output_text, left.name, left.arguments)


def test_anthropic_messages(server: tuple[list[Any], str]) -> None:
    """As above."""
    turns, url = server
    turns += [turn(None, CALL), turn("I want ", PENDING)]

    with (
        anthropic.Anthropic(base_url=url, api_key="k") as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}]) as stream,
    ):
        message = stream.get_final_message()

    told = [json.loads(block.model_dump_json(include={"type", "text", "name", "input"})) for block in message.content]
    assert [
        {"type": "text", "text": "I want "},
        {"type": "tool_use", "name": "weather", "input": {"city": "Oslo"}},
    ] == told
    assert ("tool_use", 6) == (message.stop_reason, message.usage.output_tokens)
