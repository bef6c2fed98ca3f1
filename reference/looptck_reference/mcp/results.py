"""Results of MCP tools as the loop returns them: a text, or texts and images in order."""

from __future__ import annotations

from looptck_reference.vocabulary.parts import Parts
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Json

__all__ = ["ToolFailed", "value_of"]


class ToolFailed(Exception):
    """A tool of the server has failed; the message has the texts of its result."""


def value_of(result: Json) -> Parts | str:
    """The value of a result. Structured content is read where nothing else is.

    Raises:
        ToolFailed: the result is an error.
    """
    parts = Parts(part_of(one) for one in result["content"])
    if not parts and result.get("structuredContent") is not None:
        return json_text(result["structuredContent"])
    if result.get("isError"):
        raise ToolFailed(parts.text)
    return parts if any(part["type"] == "image" for part in parts) else parts.text


def part_of(one: Json) -> Json:
    """A part of a result. What the model cannot read is named in its place."""
    match one["type"]:
        case "text":
            return {"type": "text", "text": one["text"]}
        case "image":
            return {"type": "image", "media_type": one["mimeType"], "data": one["data"]}
        case "resource_link":
            return {"type": "text", "text": f"{one['name']}: {one['uri']}"}
        case "resource" if "text" in one["resource"]:
            return {"type": "text", "text": one["resource"]["text"]}
        case "resource":
            return {"type": "text", "text": f"[{one['resource']['uri']} is no text, and is left out]"}
    return {"type": "text", "text": f"[{one['type']} ({one.get('mimeType')}) is left out]"}
