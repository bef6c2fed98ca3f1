"""Results with images: each wire writes them in its service's form, and a suspended run keeps them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Parts, ToolResult
from looptck_reference.kit.toolbox import value_of
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.suspension import Suspension
from looptck_reference.vocabulary.values import ToolCall

if TYPE_CHECKING:
    from looptck_reference import Wire

TEXT: dict[str, Any] = {"type": "text", "text": "Seen."}
IMAGE: dict[str, Any] = {"type": "image", "media_type": "image/png", "data": "aGk="}
URL = "data:image/png;base64,aGk="
BOTH = ToolResult("c1", "look", "Seen.", parts=[TEXT, IMAGE])
ALONE = ToolResult("c2", "draw", "", parts=[IMAGE])
WORDS = ToolResult("c3", "ping", "There.")


def test_messages_has_them_in_the_result() -> None:
    """Texts and images are blocks of the result."""
    [message] = ANTHROPIC_MESSAGES.results([BOTH, WORDS])

    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert [[TEXT, {"type": "image", "source": source}], "There."] == [one["content"] for one in message["content"]]


def test_responses_has_them_in_the_output() -> None:
    """Texts and images are parts of the output."""
    items = OPENAI_RESPONSES.results([BOTH, WORDS])

    parts = [{"type": "input_text", "text": "Seen."}, {"type": "input_image", "image_url": URL}]
    assert [parts, "There."] == [item["output"] for item in items]


def test_chat_has_them_behind_all_results() -> None:
    """A result is text, and the images come in one message of the user, each under its call."""
    *tools, images = OPENAI_CHAT.results([BOTH, ALONE, WORDS])

    shown = {"type": "image_url", "image_url": {"url": URL}}
    assert ["c1", "c2", "c3"] == [tool["tool_call_id"] for tool in tools]
    assert "Seen." == tools[0]["content"]
    assert all(isinstance(tool["content"], str) and tool["content"] for tool in tools)
    assert "user" == images["role"]
    assert [shown, shown] == images["content"][1::2]
    assert ["c1", "c2"] == [call for call in ("c1", "c2") for part in images["content"][::2] if call in part["text"]]


@pytest.mark.parametrize("wire", [ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES], ids=lambda wire: wire.path)
def test_a_suspended_run_keeps_them(wire: Wire) -> None:
    """What was obtained before a suspension is written as if there had been none."""
    held = Suspension(Conversation(), (), 1, (), (ToolCall("c1", "look", "{}"),), {0: BOTH})

    resumed = Suspension.from_json(json.loads(json.dumps(held.to_json())))

    assert wire.results([BOTH]) == wire.results([resumed.results[0]])


def test_the_kit_returns_parts_or_values() -> None:
    """The toolbox's reply says which of the two it has."""
    parts = value_of({"parts": [TEXT, IMAGE, TEXT]})

    assert isinstance(parts, Parts)
    assert "Seen.\nSeen." == parts.text
    assert [IMAGE] == value_of({"value": [IMAGE]})
