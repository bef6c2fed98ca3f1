"""Plain replies read too narrowly: the seam `Wire.decode`."""

from __future__ import annotations

from looptck_reference.errors import MalformedReply
from looptck_reference.mutants.mutant import CHAT, MESSAGES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, Turn
from looptck_reference.wires import ChatWire, MessagesWire

FIELDS = {"role", "content", "refusal", "annotations", "audio", "tool_calls", "reasoning_content"}
"""Of a message of Chat Completions, with one that compatible servers share."""


class UnknownFieldsRefused(Mutant):
    """Gives up at a message with a field that it does not know: `unknown-fields-are-ignored`."""

    breaks = ("unknown-fields-are-ignored",)
    cells = CHAT

    class Chat(ChatWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            if unknown := reply["choices"][0]["message"].keys() - FIELDS:
                raise MalformedReply(f"the message of the reply has fields that nobody knows: {sorted(unknown)}")
            return turn

    wires = speaking(chat=Chat())


class UnsignedThoughtsRefused(Mutant):
    """Gives up at a thought that has no signature, as a compatible server's: `recorded-traffic-is-read-right`."""

    breaks = ("recorded-traffic-is-read-right",)
    cells = MESSAGES

    class Messages(MessagesWire):
        def decode(self, reply: Json) -> Turn:
            turn = super().decode(reply)
            if any(block.get("type") == "thinking" and not block.get("signature") for block in turn.content):
                raise MalformedReply("a thinking block of the reply has no signature")
            return turn

    wires = speaking(messages=Messages())
