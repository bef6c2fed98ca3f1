"""The work of reading a request: it grows with its size alone, however small the pieces are."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.provider.http import LAST_CHUNK, chunked
from looptck.provider.http_reader import RequestReader

CHUNKED_HEAD = b"POST /c1/v1 HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n"


class Counted(bytearray):
    """A buffer that counts the bytes that are read, copied or removed."""

    touched = 0

    def find(self, mark: Any, start: Any = 0, end: Any = None) -> int:
        """Count the bytes from the start to the match, or to the end."""
        found = super().find(mark, start) if end is None else super().find(mark, start, end)
        self.touched += (found if found >= 0 else len(self)) - start
        return found

    def __getitem__(self, place: Any) -> Any:
        piece = super().__getitem__(place)
        self.touched += len(piece)
        return piece


def _touched(data: bytes, step: int) -> int:
    """The number of bytes that the reader touches for a request in pieces of this size."""
    reader = RequestReader()
    reader._buffer = buffer = Counted()
    requests = []
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
        requests.append(reader.next())
    assert [None] == list(dict.fromkeys(requests[:-1]))
    assert requests[-1] is not None
    return buffer.touched


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nx: " + b"a" * 20_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 20000\r\n\r\n" + b"a" * 20_000,
        CHUNKED_HEAD + chunked(b"a" * 20_000) + LAST_CHUNK,
        CHUNKED_HEAD + chunked(b"a" * 10) * 2000 + LAST_CHUNK,
        CHUNKED_HEAD + b"1;x=" + b"a" * 20_000 + b"\r\na\r\n" + LAST_CHUNK,
        CHUNKED_HEAD + b"0\r\n" + b"x: y\r\n" * 3000 + b"\r\n",
    ],
    ids=["head", "measured", "one chunk", "many chunks", "long extension", "many trailers"],
)
def test_the_work_is_linear_in_the_size(data: bytes, step: int) -> None:
    """Each byte is searched and copied only a few times, however small the pieces are."""
    assert _touched(data, step) <= 5 * len(data)
