"""Server-sent events, read incrementally from bytes.

The format is chapter 9.2.6 of the HTML standard. A stream consists of lines; an empty line ends an event; the `data`
lines of an event, joined by line feeds, are its payload. Three details are easily missed, and are why looptck has its
own parser:

* Lines end with LF, CR or CRLF and with nothing else. U+0085, U+2028 and similar characters are ordinary text, but
  `str.splitlines` and line readers built upon it split there, in the middle of JSON strings.
* Bytes arrive in any pieces. UTF-8 has no byte under 0x80 inside a character, so lines can be cut on bytes and
  decoded whole; no character is ever seen in half.
* A CR ends its line at once. Waiting for the LF that may follow would hold back the last event until more arrives.
"""

from __future__ import annotations

__all__ = ["EventReader"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Turns pieces of a stream into the data of its events.

    An event that no empty line ends is incomplete and is never returned.
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._at_start = True
        self._after_cr = False

    def feed(self, piece: bytes) -> list[str]:
        """Take the next bytes; return the data of each event that they complete."""
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if b"\n" not in piece and b"\r" not in piece:
            if piece:
                self._tail.append(piece)
            return []
        self._after_cr = piece.endswith(b"\r")
        lines = self.lines(b"".join((*self._tail, piece)))
        self._tail = [] if piece.endswith((b"\n", b"\r")) else [lines.pop()]
        if self._at_start:
            # "One leading U+FEFF BYTE ORDER MARK character must be ignored if any are present."
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
            self._at_start = False
        return self._events(lines)

    def lines(self, text: bytes) -> list[bytes]:
        """The lines of this text: bytes.splitlines, unlike str.splitlines, splits at LF, CR and CRLF only."""
        return text.splitlines()

    def _events(self, lines: list[bytes]) -> list[str]:
        """Take whole lines; return the data of each event that they end. One loop, as streams have many lines."""
        events, data = [], self._data
        for line in lines:
            if line.startswith(b"data:"):
                # "If value starts with a U+0020 SPACE character, remove it": one, and only if it is there.
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line == b"data":
                data.append(b"")
            elif not line:
                # An event without data is no event: the standard drops it when the empty line comes.
                if event := b"\n".join(data):
                    events.append(event.decode("utf-8", "replace"))
                data.clear()
            # Comments, `event`, `id`, `retry` and unknown fields are ignored: these wires repeat their content in the
            # data.
        return events
