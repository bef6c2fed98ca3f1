"""Results of tools in the form of the protocol."""

from __future__ import annotations

from typing import Any

from looptck.values.images import Image

Part = dict[str, Any]


def text(said: str) -> Part:
    """A text."""
    return {"type": "text", "text": said}


def image(shown: Image) -> Part:
    """An image, whose bytes are in base64."""
    return {"type": "image", "data": shown.base64, "mimeType": shown.media_type}


def link(uri: str, name: str) -> Part:
    """A link to a resource."""
    return {"type": "resource_link", "uri": uri, "name": name, "mimeType": "text/plain"}


def embedded(uri: str, said: str) -> Part:
    """A resource with its text."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": said}}


def result(parts: tuple[Part, ...], structured: dict[str, Any] | None, *, failed: bool) -> dict[str, Any]:
    """The result of a call."""
    more = {} if structured is None else {"structuredContent": structured}
    return {"content": list(parts), **more, "isError": failed}
