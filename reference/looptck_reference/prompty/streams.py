"""The answer of a prompt as a stream of text.

When the caller gets the stream, all tools have run and the answer has begun (Prompty runtime specification, §9.3). The
exception is text that the model writes before it calls tools in the same turn: when this text arrives, it is not yet
known that calls will follow.

Read a stream to its end or close it: until then its connection and the run's span stay open.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from looptck_reference.loop.loop import Loop
    from looptck_reference.vocabulary.values import Answer

__all__ = ["AsyncPromptyStream", "PromptyStream"]


class PromptyStream(Iterator[str]):
    """Pieces of text, at the caller's pace; `answer` is available once all of them have been read."""

    def __init__(self, loop: Loop, pieces: Generator[str], close: Callable[[], object]) -> None:
        self._loop = loop
        self._pieces = pieces
        self._close = close
        self._first = self._read()

    def __next__(self) -> str:
        piece = self._read() if self._first is None else self._first
        self._first = None
        if piece is None:
            raise StopIteration
        return piece

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def answer(self) -> Answer:
        """The whole answer."""
        return self._loop.answer

    def close(self) -> None:
        """Close the connection and discard unread text."""
        self._first = None
        self._pieces.close()
        self._close()

    def _read(self) -> str | None:
        """The next piece; at the end None, after closing everything."""
        try:
            return next(self._pieces)
        except StopIteration:
            self.close()
            return None
        except BaseException:
            self.close()
            raise


class AsyncPromptyStream(AsyncIterator[str]):
    """The same for async callers; made by `begun`."""

    def __init__(self, loop: Loop, pieces: AsyncGenerator[str], close: Callable[[], Awaitable[object]]) -> None:
        self._loop = loop
        self._pieces = pieces
        self._close = close
        self._first: str | None = None

    @classmethod
    async def begun(
        cls, loop: Loop, pieces: AsyncGenerator[str], close: Callable[[], Awaitable[object]]
    ) -> AsyncPromptyStream:
        """A stream whose first piece has been read."""
        stream = cls(loop, pieces, close)
        stream._first = await stream._read()
        return stream

    async def __anext__(self) -> str:
        piece = await self._read() if self._first is None else self._first
        self._first = None
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def answer(self) -> Answer:
        """The whole answer."""
        return self._loop.answer

    async def aclose(self) -> None:
        """Close the connection and discard unread text."""
        self._first = None
        await self._pieces.aclose()
        await self._close()

    async def _read(self) -> str | None:
        """The next piece; at the end None, after closing everything."""
        try:
            return await anext(self._pieces)
        except StopAsyncIteration:
            await self.aclose()
            return None
        except BaseException:
            await self.aclose()
            raise
