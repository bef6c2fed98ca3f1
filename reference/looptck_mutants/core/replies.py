"""Plain replies, parsed too strictly: the seam `Wire.decode`."""

from __future__ import annotations

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.errors import MalformedReply
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatWire, MessagesWire

FIELDS = {"role", "content", "refusal", "annotations", "audio", "tool_calls", "reasoning_content"}
"""The fields of a Chat Completions message, with one that compatible servers add."""


@breaks("unknown-fields-are-ignored", cells=CHAT)
class UnknownFieldsRefused(ChatWire):
    """Fails on a message with an unknown field."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        if unknown := reply["choices"][0]["message"].keys() - FIELDS:
            raise MalformedReply(f"the message of the reply has unknown fields: {sorted(unknown)}")
        return turn


@breaks("recorded-traffic-is-read-right", cells=MESSAGES)
class UnsignedThoughtsRefused(MessagesWire):
    """Fails on a thinking block without a signature, which compatible servers send."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        if any(block.get("type") == "thinking" and not block.get("signature") for block in turn.content):
            raise MalformedReply("a thinking block of the reply has no signature")
        return turn
