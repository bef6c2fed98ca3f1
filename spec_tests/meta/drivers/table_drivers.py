"""Drivers that say what the environment tells them to, as a process and in the kit's own."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

SAYS = "LOOPTCK_TEST_SAYS"
"""The variable with what they say, as JSON: `started`, or `finished` with an outcome."""
STARTED = {
    "protocol": 1, "name": "fake", "version": "1", "language": "python", "wires": ["openai-chat"], "modes": ["sync"],
    "profiles": [], "capabilities": {},
}  # fmt: skip

SERVES = {"name": "fake", "version": "1", "language": "python", "wires": ["openai-chat"], "capabilities": [],
          "setups": ["usual"]}  # fmt: skip
DESCRIBED = {"name": "fake", "version": "1", "wire": "openai-chat", "once": ["true", "{prompt}"],
             "tools": {"mark": {"name": "sh", "arguments": {"command": "echo '{text}' >> {mark}"}}}}  # fmt: skip


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


class Server:
    """A server in the kit's process."""

    def start(self) -> Any:
        """What it declares."""
        return says().get("started", SERVES)

    def open(self, *_: str) -> Any:
        """Where it is."""
        return says().get("url")

    def close(self) -> None:
        """Nothing has to be closed."""


class HangingServer(Server):
    """Never returns from one of its methods."""

    def start(self) -> Any:
        """What it declares."""
        return self._asked("start", SERVES)

    def open(self, *_: str) -> Any:
        """Where it is."""
        return self._asked("open", "http://127.0.0.1:9")

    def close(self) -> None:
        """Nothing has to be closed."""
        self._asked("close", None)

    def _asked(self, what: str, answer: Any) -> Any:
        while says().get("hangs") == what:
            threading.Event().wait(0.01)
        return answer


class HangingProgram:
    """A program of which nothing is ever told."""

    @staticmethod
    def described() -> Any:
        """Never returns."""
        while True:
            threading.Event().wait(0.01)


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
