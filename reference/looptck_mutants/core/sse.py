"""Lines of an event stream, read wrongly: the seam `Wire.reader`, which splits bytes into events."""

from __future__ import annotations

import re

from looptck_mutants.cells import CHAT_STREAM, MESSAGES_STREAM
from looptck_mutants.core.streams_chat import A_FRAMING
from looptck_mutants.parts import breaks, speaking, streaming
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.wires import EventReader


@breaks(
    "crlf-line-ends-are-read",
    collateral={**A_FRAMING, "cr-line-ends-are-read": "CR does not end a line either"},
    cells=CHAT_STREAM,
)
class LinesEndInLineFeeds(EventReader):
    """Ends lines only at LF."""

    def feed(self, piece: bytes) -> list[str]:
        self._after_cr = False
        return super().feed(piece)

    def lines(self, text: bytes) -> list[bytes]:
        return text.removesuffix(b"\n").split(b"\n")


@breaks("cr-line-ends-are-read", cells=CHAT_STREAM)
class CrIsNoLineEnd(EventReader):
    """Ends lines only at LF and CRLF."""

    def lines(self, text: bytes) -> list[bytes]:
        return re.sub(rb"(\r?\n|\r)\Z", b"", text).replace(b"\r\n", b"\n").split(b"\n")


@breaks("long-events-are-read", cells=CHAT_STREAM)
class LinesFitTheBuffer(EventReader):
    """Fails on a line of more than 128 KiB."""

    def lines(self, text: bytes) -> list[bytes]:
        found = super().lines(text)
        if any(len(line) > 2**17 for line in found):
            raise StreamBroken("a line of the stream is longer than the buffer")
        return found


@breaks("comments-are-skipped", collateral=A_FRAMING, cells=CHAT_STREAM)
class CommentsAreData(EventReader):
    """Treats a comment as data."""

    def _events(self, lines: list[bytes]) -> list[str]:
        return super()._events([b"data" + line if line.startswith(b":") else line for line in lines])


@breaks("other-fields-are-skipped", collateral=A_FRAMING, cells=CHAT_STREAM)
class IdsAreData(EventReader):
    """Treats event ids as data."""

    def _events(self, lines: list[bytes]) -> list[str]:
        return super()._events([re.sub(rb"\Aid:", b"data:", line) for line in lines])


@breaks("comments-after-ids-are-skipped", cells=CHAT_STREAM)
class EmptyLinesAfterIdsAreEvents(EventReader):
    """Takes each empty line for the end of an event once an event has had an id."""

    _identified = False

    def _events(self, lines: list[bytes]) -> list[str]:
        events: list[str] = []
        for line in lines:
            self._identified = self._identified or line.startswith(b"id:")
            whole = not line and self._identified and not self._data
            events += [""] if whole else super()._events([line])
        return events


@breaks("space-after-colon-is-optional", collateral=A_FRAMING, cells=CHAT_STREAM)
class ColonAndSpace(EventReader):
    """Drops the character after the colon, even if it is not a space."""

    def _events(self, lines: list[bytes]) -> list[str]:
        return super()._events([re.sub(rb"\Adata:.", b"data:", line) for line in lines])


@breaks("data-lines-are-joined", cells=CHAT_STREAM)
class EachDataLineIsAnEvent(EventReader):
    """Treats each data line as a separate event."""

    def _events(self, lines: list[bytes]) -> list[str]:
        return super()._events([part for line in lines for part in (line, b"")])


@breaks("byte-order-mark-is-skipped", cells=CHAT_STREAM)
class MarkIsText(EventReader):
    """Treats a byte order mark as part of the first line."""

    def __init__(self) -> None:
        super().__init__()
        self._at_start = False


@breaks(
    "line-separators-in-text-survive",
    collateral={"framing-does-not-matter": "one recording contains such a character"},
    cells=CHAT_STREAM,
)
class LinesOfText(EventReader):
    """Splits lines at U+2028 and similar characters too."""

    def lines(self, text: bytes) -> list[bytes]:
        lines = text.decode("utf-8", "surrogateescape").splitlines()
        return [line.encode("utf-8", "surrogateescape") for line in lines]


@breaks("bytes-may-be-cut-anywhere", collateral=A_FRAMING, cells=CHAT_STREAM)
class PiecesDecodedApart(EventReader):
    """Decodes each piece of bytes separately, which breaks characters that are split between pieces."""

    def feed(self, piece: bytes) -> list[str]:
        return super().feed(piece.decode("utf-8", "replace").encode())


@breaks("bytes-may-be-cut-anywhere", collateral=A_FRAMING, cells=CHAT_STREAM)
class CutLineEndsAreTwo(EventReader):
    """Takes a CRLF that is cut for the end of a line and an empty line."""

    def feed(self, piece: bytes) -> list[str]:
        self._after_cr = False
        return super().feed(piece)


@breaks("event-names-may-be-missing", cells=MESSAGES_STREAM)
class NamelessEventsDropped(Driver):
    """Drops events without an `event` line, which the service always sends."""

    class Reader(EventReader):
        named = False

        def _events(self, lines: list[bytes]) -> list[str]:
            kept = []
            for line in lines:
                self.named = line.startswith(b"event:") or (self.named and line != b"")
                if self.named or not line.startswith(b"data:"):
                    kept.append(line)
            return super()._events(kept)

    wires = speaking(messages=streaming(cutter=Reader)["anthropic-messages"])
