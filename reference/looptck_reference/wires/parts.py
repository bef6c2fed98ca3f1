"""Results that have images, in the form of each wire.

Messages and Responses take images in the result itself. Chat Completions takes them only from the user: they come in a
user message behind all results of the turn, since no message may come between those.
"""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.vocabulary.parts import is_image
from looptck_reference.vocabulary.values import Json, ToolResult

__all__ = ["chat_images", "chat_text", "messages_content", "responses_output"]


def messages_content(result: ToolResult) -> str | list[Json]:
    """The content of a `tool_result` block."""
    return [_block(part) for part in result.parts] if result.parts else result.text


def responses_output(result: ToolResult) -> str | list[Json]:
    """The output of a `function_call_output` item."""
    return [_input(part) for part in result.parts] if result.parts else result.text


def chat_text(result: ToolResult) -> str:
    """The content of a tool message, which is text."""
    return result.text or "The result is an image, which follows." if result.parts else result.text


def chat_images(results: Sequence[ToolResult]) -> list[Json]:
    """The message with the images of a turn's results, each under the name and the id of its call; none without any."""
    parts: list[Json] = []
    for result in results:
        images = [part for part in result.parts if is_image(part)]
        if images:
            heading = f"From tool {result.name!r}, call {result.call_id}:"
            parts += [{"type": "text", "text": heading}, *map(_image_url, images)]
    return [{"role": "user", "content": parts}] if parts else []


def _block(part: Json) -> Json:
    if not is_image(part):
        return {"type": "text", "text": part["text"]}
    source = {"type": "base64", "media_type": part["media_type"], "data": part["data"]}
    return {"type": "image", "source": source}


def _input(part: Json) -> Json:
    if not is_image(part):
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": _data_url(part)}


def _image_url(image: Json) -> Json:
    return {"type": "image_url", "image_url": {"url": _data_url(image)}}


def _data_url(image: Json) -> str:
    return f"data:{image['media_type']};base64,{image['data']}"
