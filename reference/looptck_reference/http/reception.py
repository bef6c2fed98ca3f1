"""One event stream on its way from bytes to a turn, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from looptck_reference.vocabulary.news import Written

if TYPE_CHECKING:
    from looptck_reference.vocabulary.values import Delta, Turn
    from looptck_reference.wires.base import Wire

__all__ = ["Reception"]


class Reception:
    """Takes bytes; returns the text and the pieces of arguments that the caller may have now, at the end the turn."""

    def __init__(self, wire: Wire, forwards: Callable[[Delta], bool]) -> None:
        self._events = wire.reader()
        self._stream = wire.stream()
        self._forwards = forwards

    @property
    def complete(self) -> bool:
        """Whether the stream's end mark has arrived; connection errors after it do not matter."""
        return self._stream.complete

    def feed(self, piece: bytes) -> Iterator[str | Written]:
        """Take the next bytes. Text of events before a broken event is still returned."""
        for data in self._events.feed(piece):
            delta = self._stream.add(data)
            if delta.text and self._forwards(delta):
                yield delta.text
            for call_id, written in delta.written:
                yield Written(call_id, written)

    def close(self) -> Turn:
        """All bytes have arrived."""
        return self._stream.close()
