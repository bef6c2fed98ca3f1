"""Plain replies read too narrowly: the seam `Wire.decode`."""

from __future__ import annotations

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.errors import MalformedReply
from looptck_reference.loop.values import Json, Turn
from looptck_reference.wires import ChatWire, MessagesWire

FIELDS = {"role", "content", "refusal", "annotations", "audio", "tool_calls", "reasoning_content"}
"""Of a message of Chat Completions, with one that compatible servers share."""


@breaks("unknown-fields-are-ignored", cells=CHAT)
class UnknownFieldsRefused(ChatWire):
    """Gives up at a message with a field that it does not know."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        if unknown := reply["choices"][0]["message"].keys() - FIELDS:
            raise MalformedReply(f"the message of the reply has fields that nobody knows: {sorted(unknown)}")
        return turn


@breaks("recorded-traffic-is-read-right", cells=MESSAGES)
class UnsignedThoughtsRefused(MessagesWire):
    """Gives up at a thought that has no signature, as a compatible server's."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        if any(block.get("type") == "thinking" and not block.get("signature") for block in turn.content):
            raise MalformedReply("a thinking block of the reply has no signature")
        return turn
