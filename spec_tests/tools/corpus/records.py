"""Records of real traffic: one JSON object a line, in files ``.jsonl`` or ``.jsonl.gz``.

A record has an ``api``, the server that answered (``provider``, ``host``), ``request`` with its ``body``, null where
only the reply was kept, and ``response`` with ``status``, ``headers`` and ``body``. The body is the text that was
recorded; or it is base64 of it; or, where the ``format`` ends in ``-chunks``, the payload of each event on a line of
its own; or a note that it was left out for its size.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import jsonschema_rs

WIRES = {
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "anthropic_messages": "anthropic-messages",
}
"""The wire of each ``api``."""
SKIPPED = frozenset({"gemini"})
"""Values of ``api`` without a wire."""
SUFFIXES = (".jsonl", ".jsonl.gz")
LONGEST = 64 * 1024 * 1024
"""The maximum length of a line in bytes."""

_VENDORS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}
_ELIDED = re.compile(r"<elided \d+ base64 chars>")
_HEADERS = {"type": ["object", "null"]}
_SCHEMA = {
    "type": "object",
    "required": ["id", "api", "stream", "request", "response"],
    "properties": {
        "id": {"type": "string"},
        "api": {"enum": [*WIRES, *sorted(SKIPPED)]},
        "provider": {"type": "string"},
        "host": {"type": "string"},
        "stream": {"type": "boolean"},
        "format": {"type": "string"},
        "request": {"type": ["object", "null"], "required": ["body"], "properties": {"headers": _HEADERS}},
        "response": {
            "type": "object",
            "required": ["status", "body"],
            "properties": {"status": {"type": "integer"}, "headers": _HEADERS, "body": {"type": "string"}},
        },
    },
}
_VALIDATOR = jsonschema_rs.validator_for(_SCHEMA)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be judged."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record of an API without a wire."""

    api: str


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded request and its reply."""

    line: int
    id: str
    wire: str
    official: bool
    """Whether the vendor's own host answered, not a compatible server."""
    host: str
    """Empty if it was not kept."""
    stream: bool
    request: Any
    """The request body; None if it was not recorded."""
    request_headers: Mapping[str, str] | None
    """Headers by lowercase name; None if they were not recorded."""
    status: int
    content_type: str
    body: bytes | None
    """The body of the reply; None if it was left out."""


def files(paths: Iterable[Path]) -> list[Path]:
    """The given files, and all record files in the given folders.

    Raises:
        ValueError: a folder has none.
    """
    found: list[Path] = []
    for path in paths:
        inside = [one for one in sorted(path.rglob("*")) if one.name.endswith(SUFFIXES)] if path.is_dir() else [path]
        if not inside:
            raise ValueError(f"{path}: there is no file {' or '.join(SUFFIXES)} in it")
        found += inside
    return found


def records(path: Path) -> Iterator[Record | Skipped | BadLine]:
    """The content of each line of a file; one line is in memory at a time."""
    number = 0
    try:
        with _opened(path) as file:
            while line := file.readline(LONGEST):
                number += 1
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    _pass_over(file)
                    yield BadLine(number, f"is longer than {LONGEST} bytes")
                elif line.strip():
                    yield _read(number, line)
    except (OSError, EOFError, zlib.error) as error:
        yield BadLine(number + 1, f"cannot be read, nor can what follows it: {error}")


def _opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _pass_over(file: IO[bytes] | gzip.GzipFile) -> None:
    while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass


def _read(number: int, line: bytes) -> Record | Skipped | BadLine:
    try:
        row = json.loads(line)
        _VALIDATOR.validate(row)
    except jsonschema_rs.ValidationError as error:
        place = "".join(f"/{step}" for step in error.instance_path)
        return BadLine(number, f"is no record: {place or '/'}: {error.message[:200]}")
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"is no JSON: {error}")
    if row["api"] in SKIPPED:
        return Skipped(row["api"])
    return _record(number, row)


def _record(number: int, row: dict[str, Any]) -> Record:
    request, response = row["request"], row["response"]
    provider, host = row.get("provider", ""), row.get("host", "")
    headers = _by_name(response)
    return Record(
        line=number,
        id=row["id"],
        wire=WIRES[row["api"]],
        host=host,
        official=host in _VENDORS.values() if host else provider in _VENDORS,
        stream=row["stream"],
        request=None if request is None else request["body"],
        request_headers=_by_name(request or {}) or None,
        status=response["status"],
        content_type=headers.get("content-type", "text/event-stream" if row["stream"] else "application/json"),
        body=_body(response["body"], chunks=row.get("format", "").endswith("-chunks")),
    )


def _by_name(message: dict[str, Any]) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in (message.get("headers") or {}).items()}


def _body(text: str, *, chunks: bool) -> bytes | None:
    if _ELIDED.fullmatch(text):
        return None
    if chunks:
        return "".join(f"data: {payload}\n\n" for payload in text.split("\n") if payload).encode()
    return _from_base64(text) or text.encode()


def _from_base64(text: str) -> bytes | None:
    """The decoded base64 text, if it can be the start of a reply."""
    try:
        body = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return body if body.lstrip().startswith((b"{", b"data:", b"event:", b":")) else None
