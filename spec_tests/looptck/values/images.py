"""Images that tools return: tiny ones made in code, how a request carries one, and text in which one is spelled out."""

from __future__ import annotations

import binascii
import re
import struct
import zlib
from base64 import b64decode, b64encode, urlsafe_b64encode

from looptck.values.frozen import dataclass

SIDE = 8
"""Width and height of a made image, in pixels."""
COLOURS = {"red": (200, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 200)}
BEGINNING = 32
"""So many of the first characters of its spelling tell that an image is spelled out; no name of a file is as long."""
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a tool returns; ``name`` is for messages."""

    name: str
    media_type: str
    data: bytes

    @property
    def base64(self) -> str:
        """The bytes in base64."""
        return b64encode(self.data).decode()

    def __str__(self) -> str:
        return f"the {self.name} image ({self.media_type}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True)
class Shown:
    """An image as a request carries it: bytes in base64 under a media type, or a reference to what is elsewhere."""

    media_type: str = ""
    base64: str = ""
    reference: str = ""
    """What stands in place of bytes: a URL, the id of a file, or what is neither."""

    @property
    def data(self) -> bytes | None:
        """The bytes; None if the base64 is none."""
        try:
            return b64decode(self.base64, validate=True) if self.base64 else None
        except (binascii.Error, ValueError):
            return None

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is a reference that a service could follow: an address, or the id of a file."""
        return re.match(r"https?://|file[-_]", self.reference) is not None


Part = str | Shown
"""A part of a result or a message: text, or an image."""

_DATA_URL = re.compile(r"data:(?P<type>[^;,]*)(?:;[^;,]*)*;base64,(?P<data>.*)", re.IGNORECASE | re.DOTALL)


def at_url(url: str) -> Shown:
    """The image at a URL, which may be a data URL. What is neither that nor a web address has no bytes."""
    found = _DATA_URL.fullmatch(url)
    return Shown(found["type"].strip().lower(), found["data"]) if found else Shown(reference=url)


def png(colour: str) -> Image:
    """A PNG of this colour."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(COLOURS[colour]) * SIDE) * SIDE
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return Image(colour, "image/png", _PNG + b"".join(_chunk(*one) for one in chunks))


def gif(colour: str) -> Image:
    """A GIF of one pixel of this colour."""
    screen = struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(COLOURS[colour]) + b"\0\0\0"
    pixel = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return Image(colour, "image/gif", b"GIF89a" + screen + pixel + b";")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def media_type_of(data: bytes) -> str | None:
    """The media type that the bytes of a whole image have; None if they are no whole PNG, GIF, JPEG or WebP."""
    if data.startswith(_PNG):
        return "image/png" if _is_whole_png(data) else None
    if data[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif" if _is_whole_gif(data) else None
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg" if data.endswith(b"\xff\xd9") else None
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp" if len(data) >= 8 + int.from_bytes(data[4:8], "little") else None
    return None


def _is_whole_png(data: bytes) -> bool:
    at = len(_PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, end = data[at + 4 : at + 8], at + 12 + length
        if data[end - 4 : end] != struct.pack(">I", zlib.crc32(data[at + 4 : end - 4])):
            return False
        if kind == b"IEND":
            return True
        at = end
    return False


def _is_whole_gif(data: bytes) -> bool:
    def colours(flags: int) -> int:
        return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0

    at = 13 + colours(data[10]) if len(data) > 13 else len(data)
    while at < len(data) and data[at] != 0x3B:
        at += 2 if data[at] == 0x21 else 11 + (colours(data[at + 9]) if at + 9 < len(data) else 0)
        while at < len(data) and data[at]:
            at += 1 + data[at]
        at += 1
    return at == len(data) - 1


def spelled_out(image: Image, text: str) -> str:
    """How a text spells the bytes of an image out, or their beginning; "" if it does not."""
    plain = re.sub(r"[\s\\]", "", text)
    head = image.data[:16]
    if any(encode(image.data).decode()[:BEGINNING] in plain for encode in (b64encode, urlsafe_b64encode)):
        return "in base64"
    if image.data.hex()[:BEGINNING] in plain.lower():
        return "in hexadecimal digits"
    if ",".join(map(str, head)) in plain or ",".join(f'"{at}":{byte}' for at, byte in enumerate(head)) in plain:
        return "as numbers"
    shown = repr(head)[2:-1].replace("\\", "")
    raw = (head.decode(encoding, "replace") for encoding in ("latin-1", "utf-8"))
    return "as bytes" if shown in plain or any(one in text for one in raw) else ""
