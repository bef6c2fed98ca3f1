"""What the reference makes of the results of MCP tools."""

from __future__ import annotations

from typing import Any

import pytest

from looptck_reference.mcp import ToolFailed, value_of
from looptck_reference.vocabulary.parts import Parts

TEXT = {"type": "text", "text": "Fine."}
IMAGE = {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}
RESULTS: dict[str, tuple[dict[str, Any], Any]] = {
    "text": ({"content": [TEXT, TEXT]}, "Fine.\nFine."),
    "nothing": ({"content": []}, ""),
    "structured": ({"content": [], "structuredContent": {"a": 1}}, '{"a": 1}'),
    "link": ({"content": [{"type": "resource_link", "uri": "x://1", "name": "one"}]}, "one: x://1"),
    "embedded": ({"content": [{"type": "resource", "resource": {"uri": "x://1", "text": "Fine."}}]}, "Fine."),
    "bytes": (
        {"content": [{"type": "resource", "resource": {"uri": "x://1", "blob": ""}}]},
        "[x://1 is no text, and is left out]",
    ),
    "audio": ({"content": [{"type": "audio", "mimeType": "audio/wav", "data": ""}]}, "[audio (audio/wav) is left out]"),
    "image": (
        {"content": [TEXT, IMAGE]},
        [TEXT, {"type": "image", "media_type": "image/png", "data": "iVBORw0K"}],
    ),
}


@pytest.mark.parametrize(("result", "value"), RESULTS.values(), ids=RESULTS)
def test_values(result: dict[str, Any], value: Any) -> None:
    """A result is a text, or texts and images if there is an image."""
    found = value_of(result)

    assert value == found
    assert isinstance(found, Parts) == isinstance(value, list)


def test_an_error_is_raised() -> None:
    """A result that is an error raises it, with its text."""
    with pytest.raises(ToolFailed, match=r"^Fine\.$"):
        value_of({"content": [TEXT], "isError": True})
