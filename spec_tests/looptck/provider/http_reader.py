"""HTTP/1.1 requests, parsed from bytes in any pieces. No I/O, and no byte is scanned twice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_HEAD = 64 * 1024
"""The most bytes of a head, of a line within a body, and of all that stands in a chunked body beside its content."""
MAX_BODY = 16 * 1024 * 1024
"""The most bytes of a body, unless its reader takes more."""

_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_TLS = b"\x16\x03"
"""How each connection over TLS begins."""
_BARE = re.compile(rb"[^\r]\n[^\n]*[^\r]\n\n")
"""A head whose line ends have no CR, at its end."""


@dataclass(slots=True)
class HttpRequest:
    """A complete request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    version: str = "HTTP/1.1"
    wrong: str = ""
    """Why it is refused as HTTP, and its body unread; empty: it is not."""

    @property
    def is_last(self) -> bool:
        """Whether the client reads its reply to the end of the connection."""
        if "connection" not in self.headers:
            return self.version == "HTTP/1.0"
        words = {word.strip().lower() for word in self.headers["connection"].split(",")}
        return "close" in words or (self.version == "HTTP/1.0" and "keep-alive" not in words)


class RequestReader:
    """Parses the requests of one connection. It cannot be used after an error.

    ``most``: the most bytes of a body.
    """

    def __init__(self, most: int = MAX_BODY) -> None:
        self.most = most
        self._buffer = bytearray()
        self._searched = 0
        """The end of a head or line is not before this index."""
        self._head: HttpRequest | None = None
        """The request whose head is complete and whose body is not."""
        self._body = bytearray()
        """The chunks of that request."""
        self._left: int | None = None
        """The size of the next body or chunk; None if it is not known yet."""
        self._beside = 0
        """The bytes of lines within the body so far."""
        self.waits = False
        """Whether the client has just sent a head with ``Expect: 100-continue`` and waits for the interim response."""

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer += data

    @property
    def size(self) -> int:
        """How many bytes have been received and not taken."""
        return len(self._buffer)

    def refused(self, why: str) -> HttpRequest:
        """What is known of the request that raised this error."""
        head = self._head or HttpRequest("", "", {}, b"")
        return HttpRequest(head.method, head.path, head.headers, b"", head.version, why)

    @property
    def receiving(self) -> bool:
        """Whether a request has been received only in part."""
        return bool(self._buffer) or self._head is not None

    def next(self) -> HttpRequest | None:
        """The next request; None if it is not complete yet.

        Raises:
            ValueError: it is not HTTP/1.1, or too large.
        """
        if self._head is None:
            self._skip_empty_lines()
        if not self._buffer:
            self.waits = False
            return None
        fresh = self._head is None
        self._head = self._head or self._read_head()
        if self._head is None:
            return None
        self.waits = fresh and not self._buffer and self._head.headers.get("expect", "").lower() == "100-continue"
        body = self._chunked() if _is_chunked(self._head) else self._measured(self._head)
        if body is None:
            return None
        self._head.body = body
        request, self._head = self._head, None
        return request

    def _skip_empty_lines(self) -> None:
        """Old clients send a line end behind a body (RFC 9112, 2.2)."""
        while not self._searched and self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]

    def _read_head(self) -> HttpRequest | None:
        text = self._until(b"\r\n\r\n", "request head")
        if text is None:
            if self._buffer.startswith(_TLS):
                raise ValueError("the client speaks TLS: the address begins with http, not with https")
            if _BARE.search(self._buffer):
                raise ValueError("the lines of the head end with LF alone, not with CRLF")
            return None
        method, path, headers, version = _head(text)
        return HttpRequest(method, path, headers.copy(), b"", version)

    def _measured(self, head: HttpRequest) -> bytes | None:
        if self._left is None:
            self._left = _content_length(head.headers.get("content-length", "0"), self.most)
        if len(self._buffer) < self._left:
            return None
        body = self._taken(self._left)
        self._left = None
        return body

    def _chunked(self) -> bytes | None:
        """The joined chunks, once the last one and the trailer fields are there."""
        while self._left != 0:
            if self._left is None and not self._read_size():
                return None
            if self._left:
                if len(self._buffer) < self._left + 2:
                    return None
                chunk = self._taken(self._left + 2)
                if not chunk.endswith(b"\r\n"):
                    raise ValueError(f"a chunk of {self._left} bytes has no line end behind it")
                self._body += chunk[:-2]
                self._left = None
        while (line := self._until(b"\r\n", "trailer field")) is not None:
            if not line:
                body, self._body, self._left = bytes(self._body), bytearray(), None
                self._beside = 0
                return body
            self._count(line, "trailer fields")
        return None

    def _read_size(self) -> bool:
        """Read the size of the next chunk; returns whether it is there."""
        line = self._until(b"\r\n", "line before a chunk")
        if line is None:
            return False
        word, _, extension = line.partition(b";")
        self._count(extension, "chunk extensions")
        word = word.strip()
        if not _CHUNK_SIZE.fullmatch(word):
            raise ValueError(f"{word[:20]!r} is not a chunk size")
        self._left = int(word, 16)
        if len(self._body) + self._left > self.most:
            raise ValueError(f"a body of more than {self.most} bytes")
        return True

    def _count(self, line: bytes, what: str) -> None:
        self._beside += len(line)
        if self._beside > MAX_HEAD:
            raise ValueError(f"{what} of more than {MAX_HEAD} bytes")

    def _until(self, mark: bytes, what: str) -> bytes | None:
        """The bytes before the next mark, which are removed with it; None if the mark is not there yet."""
        end = self._buffer.find(mark, self._searched)
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise ValueError(f"a {what} of more than {MAX_HEAD} bytes")
            self._searched = max(0, len(self._buffer) - len(mark) + 1)
            return None
        self._searched = 0
        return self._taken(end + len(mark))[: -len(mark)]

    def _taken(self, size: int) -> bytes:
        piece = bytes(self._buffer[:size])
        del self._buffer[:size]
        return piece


@lru_cache(maxsize=64)
def _head(text: bytes) -> tuple[str, str, dict[str, str], str]:
    """Method, path, headers and version of a request. Many requests have the head of an earlier one."""
    first, *lines = text.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise ValueError(f"{first[:80]!r} is not an HTTP/1.1 request line")
    headers: dict[str, str] = {}
    for name, value in map(_field, lines):
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return words[0], _path(words[1]), headers, words[2]


@lru_cache(maxsize=256)
def _field(line: str) -> tuple[str, str]:
    """The name of a header in lower case, and its value. Most clients send the same lines with each request."""
    name, mark, value = line.partition(":")
    if not mark or name != name.strip() or not name:  # which servers must refuse: RFC 9112, 5.1 and 5.2
        raise ValueError(f"{line[:80]!r} is no header field")
    return name.lower(), value.strip()


def _path(target: str) -> str:
    """The path of a target. A client that takes the server for a proxy sends the whole URL (RFC 9112, 3.2.2)."""
    scheme, mark, rest = target.partition("://")
    return f"/{rest.partition('/')[2]}" if mark and scheme.lower() in {"http", "https"} else target


def _is_chunked(head: HttpRequest) -> bool:
    coding = head.headers.get("transfer-encoding", "identity").lower()
    if coding not in {"chunked", "identity"}:
        raise ValueError(f"the transfer-encoding {coding[:80]!r} is none that is read; send chunked, once")
    return coding == "chunked"


@lru_cache(maxsize=256)
def _content_length(text: str, most: int) -> int:
    """The length that all lines of the header agree on: a value may be repeated (RFC 9110, 8.6)."""
    values = {value.strip() for value in text.split(",")}
    wrong = [value for value in values if not _LENGTH.fullmatch(value) or int(value) > most]
    if wrong:
        raise ValueError(f"content-length {wrong[0][:80]!r} is not a number up to {most}")
    lengths = {int(value) for value in values}
    if len(lengths) > 1:
        raise ValueError(f"content-length is given more than once with different values: {text[:80]!r}")
    return lengths.pop()
