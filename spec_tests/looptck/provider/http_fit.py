"""Replies for clients that speak otherwise than HTTP/1.1 with kept connections: HTTP/1.0, ``Connection: close``, HEAD.

Source: RFC 9112, sections 2.5 (versions), 6.1 (no chunks before HTTP/1.1) and 9.6 (close); RFC 9110, 9.3.2 (HEAD).
"""

from __future__ import annotations

from looptck.provider.http_reader import HttpRequest

_END_OF_HEAD = b"\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"
"""The header of a reply in chunks, as our replies have it."""


class Fitted:
    """The bytes of one reply as they are sent to a client that asked for the connection to be closed behind it.

    Call it with each piece of the reply as an HTTP/1.1 client would get it; it returns what is sent in its place.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._has_body = request.method != "HEAD"
        self._knows_chunks = request.version != "HTTP/1.0"
        self._head = b""
        self._in_body = False
        self._chunks: _Chunks | None = None

    def __call__(self, piece: bytes) -> bytes:
        """What is sent in place of a piece: nothing as long as the head is not whole."""
        start = b""
        if not self._in_body:
            self._head += piece
            head, mark, piece = self._head.partition(_END_OF_HEAD)
            if not mark:
                return b""
            self._in_body = True
            start = self._fitted_head(head + mark)
        if not self._has_body:
            return start
        return start + (piece if self._chunks is None else self._chunks.content(piece))

    def _fitted_head(self, head: bytes) -> bytes:
        status, _, fields = head.partition(b"\r\n")
        if not self._knows_chunks and CHUNKED in fields:
            self._chunks = _Chunks()
            fields = fields.replace(CHUNKED, b"")
        return status + b"\r\nconnection: close\r\n" + fields


class _Chunks:
    """A chunked body in pieces, of which the content is taken."""

    def __init__(self) -> None:
        self._line = b""
        """The line before a chunk, as much of it as has come."""
        self._left = 0
        """How much of the chunk and of the line end behind it is still to come, in bytes."""

    def content(self, piece: bytes) -> bytes:
        """The bytes of chunks in a piece."""
        found = b""
        while piece:
            if self._left:
                taken, piece = piece[: self._left], piece[self._left :]
                found += taken[: max(self._left - 2, 0)]
                self._left -= len(taken)
            else:
                line, mark, rest = (self._line + piece).partition(b"\r\n")
                if not mark:
                    self._line = line
                    break
                self._line, piece = b"", rest
                self._left = int(line or b"0", 16) + 2 if line.strip(b"0") else 0
        return found
