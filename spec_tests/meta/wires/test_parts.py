"""Requests with images: texts and images of results and messages are read in order, on each wire."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.values.history import Answered, Item, Said
from looptck.values.images import Shown
from looptck.wires.anthropic_messages.read import items as messages_items
from looptck.wires.openai_chat.read import items as chat_items
from looptck.wires.openai_responses.read import parse_item

DATA = Shown("image/png", "aGk=")
URL = "data:image/png;base64,aGk="
AWAY = "https://example.org/a.png"


def _messages(*blocks: dict[str, Any]) -> list[Item]:
    return list(messages_items([{"role": "user", "content": list(blocks)}]))


def _image(**source: str) -> dict[str, Any]:
    return {"type": "image", "source": source}


def test_messages() -> None:
    """Images are in results and in messages of the user; a source may be bytes, an address or a file."""
    base64 = _image(type="base64", media_type="image/png", data="aGk=")
    content = [{"type": "text", "text": "a"}, base64, {"type": "text", "text": "b"}]
    result, said, away, file = _messages(
        {"type": "tool_result", "tool_use_id": "c", "content": content},
        base64,
        _image(type="url", url=AWAY),
        _image(type="file", file_id="file_1"),
    )

    assert (Answered("c", "ab"), ("a", DATA, "b")) == (result, _parts(result))
    assert (Said("user", ""), (DATA,)) == (said, _parts(said))
    assert [(Shown(reference=AWAY),), (Shown(reference="file_1"),)] == [_parts(away), _parts(file)]


def test_chat() -> None:
    """Images are in messages of the user, and where they must not be in those of tools."""
    content = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": URL}}]
    tool, said = chat_items(
        [{"role": "tool", "tool_call_id": "c", "content": content}, {"role": "user", "content": content}]
    )

    assert (Answered("c", "a"), ("a", DATA)) == (tool, _parts(tool))
    assert (Said("user", "a"), ("a", DATA)) == (said, _parts(said))


def test_responses() -> None:
    """Images are in outputs and in messages of the user, by address or by the id of a file."""
    content = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": URL}]
    output, message = (
        next(parse_item(item, ""))
        for item in (
            {"type": "function_call_output", "call_id": "c", "output": content},
            {"role": "user", "content": [*content, {"type": "input_image", "file_id": "file-1"}]},
        )
    )

    assert (Answered("c", "a"), ("a", DATA)) == (output, _parts(output))
    assert (Said("user", "a"), ("a", DATA, Shown(reference="file-1"))) == (message, _parts(message))


@pytest.mark.parametrize("content", ["text", [{"type": "text", "text": "a"}], [], None, [1], {"type": "image"}])
def test_without_images_there_are_no_parts(content: Any) -> None:
    """A text, or a list of texts, is read as ever."""
    [item] = chat_items([{"role": "user", "content": content}])

    assert () == _parts(item)


def _parts(item: Item) -> tuple[object, ...]:
    assert isinstance(item, Answered | Said)
    return item.parts
