"""Corpora for tests: each record names the findings that it must lead to."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Turn, calls, says
from looptck.wires import WIRES
from tools.corpus.records import WIRES as APIS

Row = dict[str, Any]

CALLS = calls(Call.of("weather", {"city": "Paris"}), Call("ping", ""), text="I look.")
ANSWER = says("18 °C")
REQUESTS: dict[str, Row] = {
    "openai_chat": {"model": "m", "messages": [{"role": "user", "content": "go"}]},
    "openai_responses": {"model": "m", "input": "go"},
    "anthropic_messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]},
}
"""A valid request for each API."""
HOSTS = {True: {"provider": "openai", "host": "api.openai.com"}, False: {"provider": "local", "host": "localhost:1"}}


def body(api: str, turn: Turn, *, stream: bool) -> str:
    """The reply with this turn."""
    wire = WIRES[APIS[api]]
    said = turn.numbered(1)
    if stream:
        return DEFAULT.encode(wire.events(said, 1, DEFAULT), named=wire.named_events).decode()
    return json.dumps(wire.body(said, 1, DEFAULT), ensure_ascii=False)


def row(id: str, api: str = "openai_chat", turn: Turn = ANSWER, *, stream: bool = False, **changes: Any) -> Row:
    """A record of a valid request and its reply, with ``changes``; ``reply`` and ``status`` change the response.

    ``official`` False: the reply is from a compatible server.
    """
    kind = "text/event-stream; charset=utf-8" if stream else "application/json"
    response = {
        "status": changes.pop("status", 200),
        "headers": {"Content-Type": kind},
        "body": changes.pop("reply") if "reply" in changes else body(api, turn, stream=stream),
    }
    request = {"body": changes.pop("asked", REQUESTS[api])}
    host = HOSTS[changes.pop("official", True)]
    return {"id": id, "api": api, **host, "stream": stream, "request": request, "response": response, **changes}


def written(path: Path, *lines: Row | str) -> Path:
    """A file with these records, or with invalid lines; compressed if its name ends in .gz."""
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path
