"""The kit as the client of a server that runs the loop: what it asks, and how it reads what comes back."""

from __future__ import annotations

from looptck.client.ask import Ask
from looptck.client.reply import Progress, Reply

__all__ = ["Ask", "Progress", "Reply"]
