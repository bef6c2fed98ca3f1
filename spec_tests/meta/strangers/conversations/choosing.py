"""Right loops that choose otherwise than the one that they are made of."""

# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json


class OneCallAtATime(chat_sync.Driver):
    """Of several calls that need approval a suspended run waits for the first, and once resumed for the next."""

    class run_of(chat_sync.Run):
        def suspended(self, waiting: list[Json], results: list[str | None]) -> Json:
            return super().suspended(waiting[:1], results)
