"""A driver whose `stop` is a coroutine function, and writes down where it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from looptck.driver import Case, Emit, Outcome, Started, started, value


class Stops:
    """Writes to the file that a case is named after."""

    place: Path
    loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Started:
        return started("stops", "1", wires=["openai-chat"], modes=["sync", "async"])

    def run(self, case: Case, emit: Emit) -> Outcome:
        self.place = Path(case["name"])
        return value("")

    async def run_async(self, case: Case, emit: Emit) -> Outcome:
        self.loop = asyncio.get_running_loop()
        return self.run(case, emit)

    async def stop(self) -> None:
        await asyncio.sleep(0)
        same = asyncio.get_running_loop() is self.loop
        self.place.write_text("the event loop of the runs" if same else "another one", encoding="utf-8")
