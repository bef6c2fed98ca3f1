"""The format of a cassette's files, which is readable and keeps the recorded bytes.

``SCENARIO-plain.yaml`` or ``SCENARIO-stream.yaml`` holds the interactions with their provenance. A stream also has
``SCENARIO-stream.chunks.yaml`` with the borders of its chunks and their times, which vcrpy does not keep.

A JSON body is kept as a tree and played as compact JSON; an event stream is kept as its text, to the byte; any other
body, and a body that YAML would change, is kept as base64.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from looptck.values.frozen import dataclass

VERSION = 2
KEPT_REQUEST_HEADERS = ("accept", "content-type", "anthropic-version", "anthropic-beta")
"""The request headers that do not identify a person or a machine."""
KEPT_REPLY_HEADERS = ("content-type", "retry-after", "x-should-retry")
"""The reply headers that a client may use and that do not identify a person or a machine."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One request and its reply, as recorded and redacted."""

    method: str
    path: str
    """With its leading slash, and without scheme, host and query."""
    request_headers: Mapping[str, str]
    """Names in lower case."""
    request: Any
    """The body as JSON."""
    status: int
    headers: Mapping[str, str]
    """Of the reply; names in lower case."""
    body: bytes
    """Of the reply; compact where it is JSON."""
    broken: bool = False
    """Whether the connection broke off after it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a cassette comes from."""

    upstream: str
    """The server that answered, with its version where it is known."""
    dialect: str
    """The catalogue of deviations in ``fixtures/deviations`` that describes it; ``""`` for the vendor's own."""
    model: str
    scenario: str
    """The SHA-256 of the scenario as it was when it was recorded (see ``looptck.bench.cases``)."""
    client: str
    """The client that sent the requests, with its version."""
    recorder: str
    """The recorder, with its version."""
    date: str
    """The day, as YYYY-MM-DD."""
    redactions: tuple[str, ...]
    """The redactions, one sentence each."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """How a reply's body arrived."""

    ends: tuple[int, ...]
    """Where each chunk ends, in bytes from the beginning of the body."""
    times: tuple[float, ...]
    """When each came, in milliseconds since the request was sent."""


class BadForm(ValueError):
    """Content that is not a cassette's; the text begins with a JSON pointer to the place."""


def render_cassette(provenance: Provenance, interactions: Sequence[Interaction]) -> str:
    """The text of a cassette's file."""
    rows = [_row(one) for one in interactions]
    about = {**asdict(provenance), "redactions": list(provenance.redactions), "sha256": fingerprint(rows)}
    return _yaml({"version": VERSION, "provenance": about, "interactions": rows})


def parse_cassette(content: Mapping[str, Any]) -> tuple[Provenance, tuple[Interaction, ...]]:
    """What is in a cassette's file, which its schema has accepted.

    Raises:
        BadForm: the hash does not fit, or base64 is none.
    """
    about = dict(content["provenance"])
    if about.pop("sha256") != fingerprint(content["interactions"]):
        raise BadForm("/provenance/sha256: is not the hash of the interactions; they were changed or cut short")
    provenance = Provenance(**{**about, "redactions": tuple(about["redactions"])})
    return provenance, tuple(_interaction(place, row) for place, row in enumerate(content["interactions"]))


def render_chunks(sha256: str, chunks: Sequence[Chunks]) -> str:
    """The text of the file of chunks that belongs to the cassette of this hash: one entry for each interaction."""
    rows = [{"ends": list(one.ends), "ms": list(one.times)} for one in chunks]
    return _yaml({"version": VERSION, "cassette": sha256, "interactions": rows}, flow=None)


def parse_chunks(content: Mapping[str, Any]) -> tuple[Chunks, ...]:
    """What is in a file of chunks, which its schema has accepted."""
    return tuple(Chunks(tuple(row["ends"]), tuple(row["ms"])) for row in content["interactions"])


def fingerprint(rows: Any) -> str:
    """The SHA-256 of interactions as in the file: as JSON with sorted keys, no spaces, and ASCII only."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def compact(value: Any) -> bytes:
    """JSON as it is played."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _row(one: Interaction) -> dict[str, Any]:
    request = {
        "method": one.method,
        "path": one.path,
        "headers": dict(one.request_headers),
        "body": {"json": one.request},
    }
    response: dict[str, Any] = {"status": one.status, "headers": dict(one.headers), "body": _body(one.body)}
    if one.broken:
        response["broken"] = True
    return {"request": request, "response": response}


def _interaction(place: int, row: Mapping[str, Any]) -> Interaction:
    request, response = row["request"], row["response"]
    return Interaction(
        request["method"],
        request["path"],
        request["headers"],
        request["body"]["json"],
        response["status"],
        response["headers"],
        _bytes(f"/interactions/{place}/response/body", response["body"]),
        response.get("broken", False),
    )


def _body(body: bytes) -> dict[str, Any]:
    """The most readable form from which the very bytes come back."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    forms: list[dict[str, Any]] = [{"text": text}]
    with contextlib.suppress(ValueError):
        forms.insert(0, {"json": json.loads(text)})
    for form in forms:
        if _comes_back(form, body):
            return form
    return {"base64": base64.b64encode(body).decode()}


def _comes_back(form: dict[str, Any], body: bytes) -> bool:
    from looptck.cassettes.yaml_form import read, written

    try:
        return _bytes("", read(written(form))) == body
    except ValueError:
        return False


def _bytes(place: str, form: Mapping[str, Any]) -> bytes:
    if "json" in form:
        return compact(form["json"])
    if "text" in form:
        return str(form["text"]).encode()
    try:
        return base64.b64decode(form["base64"], validate=True)
    except binascii.Error as error:
        raise BadForm(f"{place}/base64: is invalid: {error}") from error


def _yaml(content: Any, *, flow: bool | None = False) -> str:
    from looptck.cassettes.yaml_form import written  # which nobody needs who only plays

    return written(content, flow=flow)
