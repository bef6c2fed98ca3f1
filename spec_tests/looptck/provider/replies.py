"""Replies in one write, or in the pieces of a framing; and the content types of all replies."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.gate import Gate
from looptck.provider.gates import taken_in
from looptck.provider.http import HttpReply, head
from looptck.provider.script import Step
from looptck.values.framing import Framing
from looptck.values.jsontext import compact
from looptck.values.turns import Turn
from looptck.wires.wire import FAILED_REQUEST

Headers = list[tuple[str, str]]

JSON: Headers = [("content-type", "application/json")]
EVENTS: Headers = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")]


def accepts_gzip(headers: Mapping[str, str]) -> bool:
    """Whether a request with these headers, by lower-case name, says that it can read gzip."""
    for coding in headers.get("accept-encoding", "").replace(" ", "").lower().split(","):
        name, _, weight = coding.partition(";q=")
        if name == "gzip":
            return not weight or weight.strip("0.") != ""
    return False


def typed(headers: Headers, step: Step) -> Headers:
    """The headers of a reply, whose content type has the parameters of its step."""
    media = headers[0][1].partition(";")[0]
    written = headers if step.type is None else [("content-type", media + step.type), *headers[1:]]
    return [*written, ("content-encoding", "gzip")] if step.compressed else written


def zipped(parts: Iterable[bytes | Gate]) -> list[bytes | Gate]:
    """A stream in gzip, each part of which can be read when it has arrived."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    written = [
        part if isinstance(part, Gate) else stream.compress(part) + stream.flush(zlib.Z_SYNC_FLUSH) for part in parts
    ]
    return [*written, stream.flush()]


def plain(encoder: Encoder, n: int, turn: Turn, step: Step) -> HttpReply:
    """The ``n``-th reply, in one piece or in those of its framing."""
    body = encoder.plain(turn, n, step.framing)
    if step.compressed:
        body = gzip.compress(body, mtime=0)
    start = head(200, typed(JSON, step), length=len(body))
    if isinstance(step.fault, faults.Cut):
        return HttpReply([start + body[: int(len(body) * step.fault.share)]], then_close=True)
    first, *others = written(step.framing, body)
    assert isinstance(first, bytes)
    return HttpReply([start + first, *others])


def written(framing: Framing, body: bytes) -> list[bytes | Gate]:
    """The writes of a body, and the gates between them."""
    pieces = framing.pieces(body)
    if not framing.torn:
        return [*pieces]
    return [part for piece in pieces for part in (piece, taken_in())][:-1]


def whole(status: int, body: Any, headers: Headers | None = None) -> HttpReply:
    """A reply in one write, whose body is JSON."""
    encoded = compact(body)
    return HttpReply([head(status, headers or JSON, length=len(encoded)) + encoded])


def named(reply: HttpReply, header: str, n: int) -> HttpReply:
    """A reply with the id of its request in this header: the ``n``-th, or that of all errors.

    One that is passed on from elsewhere has nothing yet, and its own headers; a recording may have them too.
    """
    for place, part in enumerate(reply.parts):
        if isinstance(part, bytes):
            status, end, rest = part.partition(b"\r\n")
            if b"\r\n%b: " % header.encode() not in end + rest.partition(b"\r\n\r\n")[0]:
                id = f"req_looptck{n:016d}" if status.startswith(b"HTTP/1.1 2") else FAILED_REQUEST
                reply.parts[place] = b"%b\r\n%b: %b\r\n%b" % (status, header.encode(), id.encode(), rest)
            break
    return reply


def body_of(reply: HttpReply) -> bytes:
    """The body of a reply that is no stream, as it was before it was compressed."""
    start, _, body = b"".join(one for one in reply.parts if isinstance(one, bytes)).partition(b"\r\n\r\n")
    return gzip.decompress(body) if b"\r\ncontent-encoding: gzip" in start else body
