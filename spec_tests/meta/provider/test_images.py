"""Images: those that tools return are whole, and a text that spells one out is found, whatever it spells it in."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from looptck.provider.toolbox import ReturnsParts
from looptck.values.images import BEGINNING, COLOURS, Image, Shown, at_url, gif, media_type_of, png, spelled_out

MADE = [make(colour) for make in (png, gif) for colour in COLOURS]
EACH = pytest.mark.parametrize("image", MADE, ids=str)


@EACH
def test_made_images_are_whole(image: Image) -> None:
    """The bytes are those of a whole image of its type, and of no other made one."""
    assert image.media_type == media_type_of(image.data)
    assert [image] == [one for one in MADE if one.data == image.data]


@EACH
def test_what_is_spoiled_is_no_whole_image(image: Image) -> None:
    """Cut, encoded twice or decoded as text, the bytes are no image."""
    for spoiled in (
        image.data[:-1],
        image.data[: len(image.data) // 2],
        base64.b64encode(image.data),
        image.data.decode("utf-8", "replace").encode(),
        b"",
    ):
        assert media_type_of(spoiled) is None


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\xff\xd8\xff\xe0 and so on \xff\xd9", "image/jpeg"),
        (b"RIFF\x06\0\0\0WEBPab", "image/webp"),
        (b"RIFF\x07\0\0\0WEBPab", None),
        (b"%PDF-1.7", None),
    ],
)
def test_other_kinds_are_known(data: bytes, media_type: str | None) -> None:
    """A loop may send an image as another kind."""
    assert media_type == media_type_of(data)


SPELLINGS: dict[str, Callable[[Image], str]] = {
    "base64": lambda image: image.base64,
    "in a sentence": lambda image: f"The result is {image.base64}.",
    "in JSON of PHP": lambda image: json.dumps({"data": image.base64}).replace("/", "\\/"),
    "wrapped": lambda image: base64.encodebytes(image.data).decode(),
    "cut": lambda image: image.base64[: BEGINNING + 1] + "…",
    "of URLs": lambda image: base64.urlsafe_b64encode(image.data).decode(),
    "hexadecimal": lambda image: image.data.hex().upper(),
    "a list": lambda image: str(list(image.data)),
    "a Buffer of Node.js": lambda image: json.dumps({"type": "Buffer", "data": list(image.data)}),
    "a Uint8Array": lambda image: json.dumps({str(at): byte for at, byte in enumerate(image.data)}),
    "Python": lambda image: str(image.data),
    "text": lambda image: image.data.decode("latin-1"),
    "broken text": lambda image: image.data.decode("utf-8", "replace"),
}


@EACH
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_are_found(image: Image, spelling: str) -> None:
    """A text that has the bytes, or their beginning, spells the image out."""
    assert "" != spelled_out(image, SPELLINGS[spelling](image))


@EACH
def test_words_about_an_image_spell_nothing_out(image: Image) -> None:
    """The name of a file, made of a few signs of the base64, is a name."""
    said = f"See file {image.base64[-16:]}: {image}. [image] data:image/png;base64,{image.base64[:16]}…"

    assert "" == spelled_out(image, said)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("data:image/png;base64,aGk=", Shown("image/png", "aGk=")),
        ("DATA:Image/PNG;charset=x;base64,aGk=", Shown("image/png", "aGk=")),
        ("data:;base64,aGk=", Shown("", "aGk=")),
        ("https://example.org/a.png", Shown(reference="https://example.org/a.png")),
        ("aGk=", Shown(reference="aGk=")),
    ],
)
def test_urls_are_read(url: str, shown: Shown) -> None:
    """A data URL has the image; anything else is a reference to it, or nothing."""
    assert shown == at_url(url)
    assert url.startswith("https") == shown.is_elsewhere


def test_the_toolbox_answers_with_parts() -> None:
    """The reply to a tool run has texts and images in order."""
    image = png("red")

    assert {
        "parts": [
            {"type": "text", "text": "Red:"},
            {"type": "image", "media_type": "image/png", "data": image.base64},
        ]
    } == ReturnsParts(("Red:", image)).answer()
