"""Traces: a folder for each failed run, with its requests, replies and tool runs as files.

Requests are written as the bytes that the implementation sent. A server also has the request that looptck sent it as a
client, its reply, and what it wrote to its log. API keys other than looptck's dummy are masked, since a
driver may have taken them from its environment.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from looptck.bench.oracle import Ran
from looptck.bench.run import Run
from looptck.catalogue.yaml_files import BadFile, reason
from looptck.drivers.case_message import API_KEY
from looptck.values.masking import masked, masked_path
from looptck.values.outcome import serializable
from looptck.values.transcript import Received, Replied, ServerEvent

_ODD = re.compile(r"[^A-Za-z0-9._@-]+")
LONGEST = 80
MARK = "looptck-traces.txt"
FAILURES = "failures.txt"


def folder_of(run: Run, case: str) -> str:
    """The name of a run's folder: its id, its cell and its case."""
    return _ODD.sub("-", f"{run.id}-{run.cell}-{case}")[:LONGEST].strip("-.")


def prepare(folder: Path) -> None:
    """Create the folder if necessary, and delete the traces of an earlier run from it.

    Raises:
        BadFile: it contains files that are not traces.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = list(folder.iterdir())
        if there and not (folder / MARK).is_file():
            raise BadFile(folder, "contains other files than the traces of an earlier run; name another folder")
        (folder / MARK).write_text("Traces of looptck; the next run into this folder deletes them.\n", encoding="utf-8")
        for old in there:
            if (old / FAILURES).is_file() and not old.is_symlink():
                shutil.rmtree(old)
    except OSError as error:
        raise BadFile(folder, f"cannot be written: {reason(error)}") from error


def write(folder: Path, run: Run, failure: str) -> None:
    """Write the trace of a run; if it exists already, append only the report of the further failure."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FAILURES).open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(failure + "\n\n")
    if new:
        for name, content in _files(run):
            (folder / name).write_bytes(content)


def _files(run: Run) -> Iterator[tuple[str, bytes]]:
    if run.reply is not None:
        yield "client-request.json", run.reply.sent
        yield "client-reply.txt", run.reply.raw
    if run.log:
        yield "log.txt", run.log.encode(errors="replace")
    for received in run.received:
        yield f"request-{received.n}.json", received.raw
        yield f"request-{received.n}.headers.txt", _headers(received)
    for event in run.transcript.events:
        if isinstance(event, Replied) and event.stream:
            yield f"reply-{event.n}.stream.txt", b"".join(event.stream)
            yield f"reply-{event.n}.writes.json", _json([one.decode(errors="replace") for one in event.stream])
        elif isinstance(event, Replied):
            yield f"reply-{event.n}.body.txt", event.body
    yield "tools.json", _json([_tool(one) for one in run.ran])
    yield "chunks.json", _json([{"at": one.at, "text": one.text} for one in run.chunks])
    events = [one for one in run.transcript.events if isinstance(one, ServerEvent)]
    if events:
        yield "events.json", _json([{"at": one.at, "name": one.name, "value": one.value} for one in events])
    yield "outcome.json", _json(serializable(run.outcome))


def _headers(received: Received) -> bytes:
    lines = [f"POST {masked_path(received.path)}"]
    lines += [f"{name}: {masked(name, value, API_KEY)}" for name, value in received.headers.items()]
    return ("\n".join(lines) + "\n").encode(errors="backslashreplace")


def _tool(ran: Ran) -> dict[str, Any]:
    return {
        "tool": ran.tool,
        "arguments": ran.arguments,
        "answer": ran.answer,
        "began": ran.began,
        "ended": ran.ended,
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode(errors="backslashreplace")
