"""The rules of every wire's judge, in words."""

from __future__ import annotations

from collections.abc import Mapping

from looptck.wires.anthropic_messages.judge import RULES as MESSAGES
from looptck.wires.headers import TYPE, VERSION
from looptck.wires.openai_chat.judge import RULES as CHAT
from looptck.wires.openai_responses.judge import RULES as RESPONSES

RULES: Mapping[str, Mapping[str, str]] = {
    "openai-chat": {**TYPE, **CHAT},
    "openai-responses": {**TYPE, **RESPONSES},
    "anthropic-messages": {**VERSION, **TYPE, **MESSAGES},
}
"""By wire: the id of every rule, and the rule in one sentence."""
