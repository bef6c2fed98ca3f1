"""The JSON of events, parsed too strictly: the seam `EventStream.add`, shown on Chat Completions."""

from __future__ import annotations

import re

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.core.streams_chat import A_FRAMING
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Delta
from looptck_reference.wires import ChatStream

ESCAPES = re.compile(r"(?<!\\)\\u(?!00[01])[0-9a-fA-F]{4}")
"""An escape of a character that needs no escape."""


@breaks("framing-does-not-matter", cells=CHAT_STREAM)
class EscapesUnread(ChatStream):
    """Replaces escaped characters in events by question marks."""

    def add(self, data: str) -> Delta:
        return super().add(ESCAPES.sub("?", data))


@breaks("padding-changes-nothing", collateral=A_FRAMING, cells=CHAT_STREAM)
class PaddingRefused(ChatStream):
    """Fails on an event with spaces before its closing brace."""

    def add(self, data: str) -> Delta:
        if data.endswith(" }"):
            raise StreamBroken(f"an event of the stream has unexpected spaces: {data:.200}")
        return super().add(data)
