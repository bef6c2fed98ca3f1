"""Lines of an event stream read wrongly: the seam `Wire.reader`, which cuts bytes into events."""

from __future__ import annotations

import re

from looptck_reference.mutants.core.streams_chat import A_FRAMING
from looptck_reference.mutants.mutant import CHAT_STREAM, MESSAGES_STREAM, Mutant, because
from looptck_reference.mutants.speaking import speaking, streaming
from looptck_reference.wires import EventReader


class LinesEndInLineFeeds(Mutant):
    """Ends lines at LF alone: `crlf-line-ends-are-read`."""

    breaks = ("crlf-line-ends-are-read",)
    also = A_FRAMING | because("CR is no line end either", "cr-line-ends-are-read")
    cells = CHAT_STREAM

    class Reader(EventReader):
        def feed(self, piece: bytes) -> list[str]:
            self._after_cr = False
            return super().feed(piece)

        def lines(self, text: bytes) -> list[bytes]:
            return text.removesuffix(b"\n").split(b"\n")

    wires = streaming(cutter=Reader)


class CrIsNoLineEnd(Mutant):
    """Ends lines at LF and CRLF alone: `cr-line-ends-are-read`."""

    breaks = ("cr-line-ends-are-read",)
    cells = CHAT_STREAM

    class Reader(EventReader):
        def lines(self, text: bytes) -> list[bytes]:
            return re.sub(rb"(\r?\n|\r)\Z", b"", text).replace(b"\r\n", b"\n").split(b"\n")

    wires = streaming(cutter=Reader)


class CommentsAreData(Mutant):
    """Takes a comment for data: `comments-are-skipped`."""

    breaks = ("comments-are-skipped",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Reader(EventReader):
        def _events(self, lines: list[bytes]) -> list[str]:
            return super()._events([b"data" + line if line.startswith(b":") else line for line in lines])

    wires = streaming(cutter=Reader)


class IdsAreData(Mutant):
    """Takes the ids of events for data: `other-fields-are-skipped`."""

    breaks = ("other-fields-are-skipped",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Reader(EventReader):
        def _events(self, lines: list[bytes]) -> list[str]:
            return super()._events([re.sub(rb"\Aid:", b"data:", line) for line in lines])

    wires = streaming(cutter=Reader)


class ColonAndSpace(Mutant):
    """Drops the character behind the colon, whatever it is: `space-after-colon-is-optional`."""

    breaks = ("space-after-colon-is-optional",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Reader(EventReader):
        def _events(self, lines: list[bytes]) -> list[str]:
            return super()._events([re.sub(rb"\Adata:.", b"data:", line) for line in lines])

    wires = streaming(cutter=Reader)


class EachDataLineIsAnEvent(Mutant):
    """Takes each data line for an event of its own: `data-lines-are-joined`."""

    breaks = ("data-lines-are-joined",)
    cells = CHAT_STREAM

    class Reader(EventReader):
        def _events(self, lines: list[bytes]) -> list[str]:
            return super()._events([part for line in lines for part in (line, b"")])

    wires = streaming(cutter=Reader)


class MarkIsText(Mutant):
    """Keeps a byte order mark as the beginning of the first line: `byte-order-mark-is-skipped`."""

    breaks = ("byte-order-mark-is-skipped",)
    cells = CHAT_STREAM

    class Reader(EventReader):
        def __init__(self) -> None:
            super().__init__()
            self._at_start = False

    wires = streaming(cutter=Reader)


class LinesOfText(Mutant):
    """Splits the stream as text is split, at U+2028 too: `line-separators-in-text-survive`."""

    breaks = ("line-separators-in-text-survive",)
    also = because("one recording has such text", "framing-does-not-matter")
    cells = CHAT_STREAM

    class Reader(EventReader):
        def lines(self, text: bytes) -> list[bytes]:
            lines = text.decode("utf-8", "surrogateescape").splitlines()
            return [line.encode("utf-8", "surrogateescape") for line in lines]

    wires = streaming(cutter=Reader)


class PiecesDecodedApart(Mutant):
    """Decodes each piece of bytes by itself, so that no character may be cut: `bytes-may-be-cut-anywhere`."""

    breaks = ("bytes-may-be-cut-anywhere",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Reader(EventReader):
        def feed(self, piece: bytes) -> list[str]:
            return super().feed(piece.decode("utf-8", "replace").encode())

    wires = streaming(cutter=Reader)


class NamelessEventsDropped(Mutant):
    """Drops events without an event line, which the service sends with each: `event-names-may-be-missing`."""

    breaks = ("event-names-may-be-missing",)
    cells = MESSAGES_STREAM

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
