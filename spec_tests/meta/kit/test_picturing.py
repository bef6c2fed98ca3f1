"""Words about images that are not there: which of them say so, and which promise the image."""

from __future__ import annotations

import pytest

from looptck.spec.picturing import says_left_out


@pytest.mark.parametrize(
    "text",
    [
        "[image]",
        "<image/png, 74 bytes>",
        "[Unsupported content omitted]",
        "The tool returned a picture, which cannot be shown here.",
        "The image cannot be attached.",
        "(non-text content removed)",
        "Note: only text is passed on.",
    ],
)
def test_left_out(text: str) -> None:
    """The text says that an image was left out, or that there was one."""
    assert says_left_out(text)


@pytest.mark.parametrize(
    "text", ["", "ok", "[object Object]", "The image follows.", "See the image below.", "image attached"]
)
def test_not_left_out(text: str) -> None:
    """The text says nothing of an image, or promises one."""
    assert not says_left_out(text)
