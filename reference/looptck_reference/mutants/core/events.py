"""The JSON of events read too narrowly: the seam `EventStream.add`, shown on Chat Completions."""

from __future__ import annotations

import re

from looptck_reference.errors import StreamBroken
from looptck_reference.mutants.core.streams_chat import A_FRAMING
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.values import Delta
from looptck_reference.wires import ChatStream

ESCAPES = re.compile(r"(?<!\\)\\u(?!00[01])[0-9a-fA-F]{4}")
"""An escape of a character that could as well stand for itself."""


class EscapesUnread(Mutant):
    """Reads a question mark where an event writes a character as an escape: `framing-does-not-matter`."""

    breaks = ("framing-does-not-matter",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add(self, data: str) -> Delta:
            return super().add(ESCAPES.sub("?", data))

    wires = streaming(chat=Stream)


class PaddingRefused(Mutant):
    """Gives up at an event with spaces before its last brace: `padding-changes-nothing`."""

    breaks = ("padding-changes-nothing",)
    also = A_FRAMING
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add(self, data: str) -> Delta:
            if data.endswith(" }"):
                raise StreamBroken(f"an event of the stream is not written as it should be: {data:.200}")
            return super().add(data)

    wires = streaming(chat=Stream)
