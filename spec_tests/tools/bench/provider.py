"""Compares the speed of the provider with aimock, the fastest of the other fake providers.

Both run in their own processes and send the same texts. One raw client asks both alternately, over 16 kept-alive
connections: for a plain reply of about 1 KB, and for a stream of 500 deltas. Looptck's provider parses a request,
validates it against the schema and the rules of its wire, converts it to neutral history and records it; aimock matches
it with a fixture and keeps a journal. Looptck writes a stream in default framing at once, aimock one event at a time.
CPU time is the server's own, and is the more stable figure.

aimock is installed by npm into ``.tox/bench-aimock``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.wires import WIRES
from tools.bench import served
from tools.bench.client import ask
from tools.bench.table import show

AIMOCK = "@copilotkit/aimock@1.43.0"
FOLDER = Path(__file__).parents[3] / ".tox" / "bench-aimock"
ROUNDS = 5
CONNECTIONS = 16
TEXTS = {"plain": "Paris has 18 degrees. " * 30, "stream": "Paris " * (500 * DEFAULT.fragment // len("Paris "))}
"""The text of the plain reply, and of the stream."""
TIMES = {"plain": 250, "stream": 10}
"""The number of requests on each connection in a round."""
FIELDS: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Go."}]},
    "openai-responses": {"input": [{"role": "user", "content": "Go."}]},
    "anthropic-messages": {"messages": [{"role": "user", "content": "Go."}], "max_tokens": 100},
}
NODE = """
import { LLMock } from "@copilotkit/aimock";
import { createInterface } from "node:readline";
const mock = new LLMock({ port: 0, chunkSize: %d });
await mock.start();
for await (const line of createInterface({ input: process.stdin })) {
    mock.clearFixtures();
    mock.onMessage("Go.", { content: JSON.parse(line)[1] });
    console.log(mock.url);
}
await mock.stop();
"""
"""aimock with the manners of ``served``."""


class Server:
    """A fake provider in its own process, which ends when its standard input is closed."""

    def __init__(self, command: list[str], folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def says(self, wire: str, text: str) -> str:
        """Set the text of all replies; return the URL for requests."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([wire, text]), file=self._process.stdin)
        return f"{self._process.stdout.readline().strip()}/v1{WIRES[wire].route}"

    @property
    def cpu(self) -> float:
        """The process's CPU time in seconds, 0 if the system does not report it."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Stop the process, and wait for its end."""
        try:
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass(slots=True)
class Figures:
    """The measurements of one server for one kind of request, by round."""

    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    size: int = 0
    events: int = 0

    def take(self, server: Server, wire: str, kind: str) -> None:
        """One round."""
        url = server.says(wire, TEXTS[kind])
        body = json.dumps({"model": "looptck-model", "stream": kind == "stream", **FIELDS[wire]}).encode()
        before = server.cpu
        seconds, reply = ask(url, body, times=TIMES[kind], connections=CONNECTIONS)
        self.size, self.events = len(reply), reply.count(b"data: ")
        self.cpu.append((server.cpu - before) / self._each(kind))
        self.rates.append(self._each(kind) / seconds)

    def _each(self, kind: str) -> int:
        """The number of replies, or of stream events, in a round."""
        return TIMES[kind] * CONNECTIONS * (self.events if kind == "stream" else 1)

    def cells(self, rival: Figures) -> list[str]:
        """The figures of a row: rate, ratio to the rival, CPU time, bytes of one reply."""
        ratio = median(mine / other for mine, other in zip(self.rates, rival.rates, strict=True))
        cpu = sum(self.cpu) / len(self.cpu)
        return [f"{median(self.rates):,.0f}", f"{ratio:.2f}", f"{cpu * 1e6:.1f}", f"{self.size:,}", f"{self.events:,}"]


@contextmanager
def servers() -> Generator[dict[str, Server]]:
    """The running servers: looptck's provider and aimock."""
    both = {
        "looptck": Server([sys.executable, served.__file__]),
        "aimock": Server(["node", "--input-type=module", "--eval", NODE % DEFAULT.fragment], FOLDER),
    }
    try:
        yield both
    finally:
        for server in both.values():
            server.end()


def missing() -> str | None:
    """Install aimock if it is missing; return the error if this fails."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return f"there is no {program}"
    if (FOLDER / "node_modules" / "@copilotkit").exists():
        return None
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(FOLDER), AIMOCK]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"npm says {installed.stderr[-500:]}" if installed.returncode else None


def main() -> None:
    """Measure and print."""
    if why := missing():
        print(f"skipped, because aimock cannot be installed: {why}")
        return
    for kind, unit in (("plain", "reply"), ("stream", "event")):
        rows = [[f"{kind}, per {unit}", "a second", "× aimock", "µs of CPU", "bytes of a reply", "events of a reply"]]
        with servers() as both:
            for wire in WIRES:
                for server in both.values():
                    Figures().take(server, wire, kind)  # what is built or compiled at first use is not answering
                figures = {name: Figures() for name in both}
                for turn in range(ROUNDS):
                    for name in list(both)[:: -1 if turn % 2 else 1]:
                        figures[name].take(both[name], wire, kind)
                rows += [[f"{wire}: {name}", *one.cells(figures["aimock"])] for name, one in figures.items()]
        show(rows)
