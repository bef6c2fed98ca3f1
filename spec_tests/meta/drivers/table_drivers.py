"""Drivers that say what the environment tells them to, as a process and in the kit's own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

SAYS = "LOOPTCK_TEST_SAYS"
"""The variable with what they say, as JSON: `started`, or `finished` with an outcome."""
STARTED = {
    "protocol": 1, "name": "fake", "version": "1", "language": "python", "wires": ["openai-chat"], "modes": ["sync"],
    "profiles": [], "capabilities": {},
}  # fmt: skip


def says() -> dict[str, Any]:
    """What is to be said."""
    found: dict[str, Any] = json.loads(os.environ[SAYS])
    return found


class Driver:
    """In the kit's process."""

    def start(self) -> Any:
        """What it declares."""
        return says().get("started", STARTED)

    def run(self, case: Any, emit: Callable[[Any], None]) -> Any:
        """What it returns, behind chunks."""
        for chunk in says().get("chunks", ()):
            emit(chunk)
        return says().get("outcome", {"kind": "value", "text": "Done."})


def main() -> None:
    """The same as a process."""
    driver = Driver()
    for line in sys.stdin:
        message = json.loads(line)
        found: list[Any] = []
        if message["type"] == "start":
            found = [{"type": "started", **driver.start()} if isinstance(driver.start(), dict) else driver.start()]
        elif message["type"] == "run":
            chunks: list[Any] = []
            outcome = driver.run(message["case"], chunks.append)
            found = [{"type": "chunk", "id": message["id"], "text": chunk} for chunk in chunks]
            found.append({"type": "finished", "id": message["id"], "outcome": outcome})
        else:
            return
        for one in found:
            sys.stdout.write(json.dumps(one) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
