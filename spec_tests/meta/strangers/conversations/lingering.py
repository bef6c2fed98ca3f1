"""No fault: a loop that relies on previous_response_id, and tells of a cancelled run only when no other goes on."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import responses_stateful


class Driver(responses_stateful.Driver):
    """The requests of the others come while the cancelled run has not ended, and have no word of their questions."""

    def __init__(self) -> None:
        super().__init__()
        self.under_way: set[Any] = set()
        self.changed: asyncio.Event | None = None

    async def run_async(self, case: Any, emit: Any) -> Any:
        self.changed = self.changed or asyncio.Event()
        self.under_way.add(case["id"])
        try:
            return await super().run_async(case, emit)
        except asyncio.CancelledError:
            self.under_way.remove(case["id"])
            while self.under_way:
                self.changed.clear()
                await self.changed.wait()
            raise
        finally:
            self.under_way.discard(case["id"])
            self.changed.set()
