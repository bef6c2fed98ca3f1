"""The cells in which a quick matrix runs mutants, by the wire that shows the fault."""

from __future__ import annotations

CHAT = ("openai-chat/plain/sync",)
CHAT_STREAM = ("openai-chat/stream/sync",)
RESPONSES = ("openai-responses/plain/sync",)
RESPONSES_STREAM = ("openai-responses/stream/sync",)
MESSAGES = ("anthropic-messages/plain/sync",)
MESSAGES_STREAM = ("anthropic-messages/stream/sync",)
