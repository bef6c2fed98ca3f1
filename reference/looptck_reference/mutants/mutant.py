"""What every mutant is: the reference with one seam broken on purpose, and the word for what must come of it.

A mutant is a few lines:

    class OneTooMany(Mutant):
        '''Asks the model once more than its limit allows: `limit-is-a-ceiling`.'''

        breaks = ("limit-is-a-ceiling",)
        also = because("one call of the model is one round of tools", "limit-of-zero-runs-no-tool")

        class loop(Loop):  # the driver's attribute
            def limit_reached(self) -> bool:
                return self.model_calls > self.limit

Its first sentence states the fault and the requirements that it breaks. `looptck kill` plays the suite to it and
demands that exactly those fail that it names. A coarse one has to fail what it breaks and meets nothing else; its list
is long, so its first sentence states the fault alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from looptck_reference.driver import Driver

__all__ = ["CHAT", "CHAT_STREAM", "MESSAGES", "MESSAGES_STREAM", "RESPONSES", "RESPONSES_STREAM", "Mutant", "because"]

CHAT = ("openai-chat/plain/sync",)
CHAT_STREAM = ("openai-chat/stream/sync",)
RESPONSES = ("openai-responses/plain/sync",)
RESPONSES_STREAM = ("openai-responses/stream/sync",)
MESSAGES = ("anthropic-messages/plain/sync",)
MESSAGES_STREAM = ("anthropic-messages/stream/sync",)


class Mutant(Driver):
    """The reference with one fault."""

    breaks: ClassVar[tuple[str, ...]]
    """The requirements that the fault must fail, all of one profile."""
    also: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The requirements that fail with them in some cell, each with the reason; those that are only not reached do not
    fail."""
    cells: ClassVar[tuple[str, ...]] = CHAT
    """Where a quick matrix judges it: the fewest cells in which it fails all that it breaks."""
    coarse: ClassVar[bool] = False
    """A fault so gross that much falls with it. Such a mutant proves that many cases can fail, and is judged by those
    of what it breaks and no others."""


def because(reason: str, *requirements: str) -> dict[str, str]:
    """One reason for several requirements."""
    return dict.fromkeys(requirements, reason)
