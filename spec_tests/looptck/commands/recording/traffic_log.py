"""The traffic of one conversation: what vcrpy captured, compared with what the proxy saw.

vcrpy's cassette stays in memory, because it is not redacted. It has the bytes and the headers, but vcrpy joins the
chunks of streams and drops streams that break off, so borders, times and breaks are the proxy's.
"""

from __future__ import annotations

import base64
import contextlib
import json
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import vcr
from vcr.persisters.filesystem import CassetteNotFoundError
from vcr.record_mode import RecordMode

from looptck.cassettes.file_format import Chunks
from looptck.commands.recording.children import child
from looptck.values.frozen import dataclass

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class CapturesDisagree(Exception):
    """vcrpy and the proxy captured different traffic, so neither can be trusted."""


@dataclass(frozen=True, slots=True)
class LoggedExchange:
    """A request and its reply, unredacted."""

    path: str
    request_headers: Mapping[str, str]
    request: bytes
    status: int
    """0: there was no reply."""
    headers: Mapping[str, str]
    """Of the reply; names in lower case, as in the request's."""
    body: bytes
    chunks: Chunks
    broken: bool
    trouble: str
    """Why there is no reply or not all of it, where it did not just break off."""


class TrafficLog:
    """A capturing proxy in front of an upstream, and vcrpy in front of the proxy."""

    def __init__(self, port: int) -> None:
        self._origin = f"http://127.0.0.1:{port}"

    @property
    def base_url(self) -> str:
        """The base URL for clients in place of the upstream's; it ends in ``/v1``."""
        return f"{self._origin}/v1"

    def record(self, conversation: Callable[[], None]) -> tuple[list[LoggedExchange], Exception | None]:
        """The exchanges of a conversation, and what it raised.

        Raises:
            NotTheSame: vcrpy and the proxy disagree, and nothing else is wrong.
        """
        kept = _MemoryPersister()
        recorder = vcr.VCR(record_mode=RecordMode.ALL)
        recorder.register_persister(kept)
        raised: Exception | None = None
        with recorder.use_cassette("in memory"):
            try:
                conversation()
            except Exception as error:  # noqa: BLE001  the exchanges say what came of it
                raised = error
        seen = [_exchange(one) for one in self._seen()]
        if not any(one.trouble for one in seen):
            _compare(kept, seen)
        return seen, raised

    def _seen(self) -> list[dict[str, Any]]:
        with _OPENER.open(f"{self._origin}/-/log") as reply:
            seen: list[dict[str, Any]] = json.load(reply)
        return seen


@contextlib.contextmanager
def traffic_log(base_url: str, patience: float) -> Iterator[TrafficLog]:
    """A log in front of this upstream; one exchange may take ``patience`` seconds.

    Raises:
        ChildFailed: the proxy cannot be started.
    """
    command = [sys.executable, "-m", "looptck.commands.recording.proxy"]
    with child(command, {"base_url": base_url, "patience": patience}) as said:
        yield TrafficLog(said["port"])


class _MemoryPersister:
    """A persister for vcrpy that keeps its cassette in memory."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.responses: list[Any] = []

    def load_cassette(self, path: object, serializer: object) -> Any:
        raise CassetteNotFoundError

    def save_cassette(self, path: object, content: Mapping[str, Any], serializer: object) -> None:
        self.requests = list(content["requests"])
        self.responses = list(content["responses"])


def _exchange(seen: Mapping[str, Any]) -> LoggedExchange:
    return LoggedExchange(
        seen["path"],
        seen["request_headers"],
        base64.b64decode(seen["request"]),
        seen["status"],
        seen["headers"],
        base64.b64decode(seen["body"]),
        Chunks(tuple(seen["ends"]), tuple(seen["times"])),
        seen["broken"],
        seen["trouble"],
    )


def _compare(kept: _MemoryPersister, seen: list[LoggedExchange]) -> None:
    """Raises NotTheSame unless vcrpy has each whole exchange that the proxy saw, to the byte, and no other."""
    whole = [one for one in seen if not one.broken]
    if len(whole) != len(kept.requests):
        raise CapturesDisagree(f"vcrpy has {len(kept.requests)} exchanges and the proxy saw {len(whole)} whole ones")
    for place, (one, request, reply) in enumerate(zip(whole, kept.requests, kept.responses, strict=True), 1):
        words = {
            "path": (request.path, one.path),
            "request": (request.body or b"", one.request),
            "status": (reply["status"]["code"], one.status),
            "content type": (_header(reply["headers"], "content-type"), one.headers.get("content-type")),
            "body": (reply["body"]["string"], one.body),
        }
        for what, (his, ours) in words.items():
            if his != ours:
                raise CapturesDisagree(f"exchange {place}: vcrpy and the proxy have different values of {what}")


def _header(headers: Mapping[str, list[str]], wanted: str) -> str | None:
    return next((values[0] for name, values in headers.items() if name.lower() == wanted), None)
