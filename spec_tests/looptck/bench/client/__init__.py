"""looptck as the client of a server that runs the loop: its requests, and how it reads the replies."""

from __future__ import annotations

from looptck.bench.client.ask import Ask
from looptck.bench.client.reply import Progress, Reply

__all__ = ["Ask", "Progress", "Reply"]
