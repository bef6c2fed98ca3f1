"""Records what code asks a real service: each request is passed on, and the reply is passed back as it comes."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from looptck.cassettes.file_format import Chunks
from looptck.mock.tape import Taped
from looptck.provider.growing_reply import GrowingReply
from looptck.provider.http import LAST_CHUNK, HttpReply, HttpRequest, chunked, head

VENDORS = {
    "openai-chat": ("OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openai-responses": ("OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic-messages": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
}
"""By wire: the variables with the base URL and the key, and the vendor's own base URL."""
TIMEOUT = 300.0
MOST = 64 * 1024 * 1024
_NOT_SENT = {
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "accept-encoding",
    "authorization",
    "x-api-key",
}
_NOT_GIVEN = {"connection", "content-length", "transfer-encoding", "keep-alive", "set-cookie"}


@dataclass(slots=True)
class Recorder:
    """Passes requests on to the services that an environment names, with its keys."""

    environment: Mapping[str, str]
    taped: list[Taped] = field(default_factory=list)
    """The exchanges, in the order in which they were complete."""
    troubles: list[str] = field(default_factory=list)
    """Why a service could not be asked."""
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def secrets(self) -> set[str]:
        """The keys that are used."""
        return {self.environment[key] for _, _, key in VENDORS.values() if self.environment.get(key)}

    def upstream(self, wire: str) -> str:
        """The base URL of the service of a wire; it ends in ``/v1``."""
        name, vendor, _ = VENDORS[wire]
        return (self.environment.get(name) or vendor).rstrip("/").removesuffix("/v1") + "/v1"

    def answer(self, request: HttpRequest, wire: str, route: str) -> HttpReply:
        """The reply of the service, which grows while it comes."""
        reply = GrowingReply(TIMEOUT)
        thread = threading.Thread(target=self._pass_on, args=(request, wire, route, reply), daemon=True)
        self._threads.append(thread)
        thread.start()
        return reply.http

    def end(self) -> None:
        """Wait until every exchange is complete."""
        for thread in self._threads:
            thread.join(TIMEOUT)

    def _pass_on(self, request: HttpRequest, wire: str, route: str, reply: GrowingReply) -> None:
        try:
            self._asked(request, wire, route, reply)
        except (OSError, http.client.HTTPException, OverflowError) as error:
            why = f"{self.upstream(wire)} could not be asked: {type(error).__name__}: {error}"
            self.troubles.append(why)
            body = why.encode()
            reply.end(head(502, [("content-type", "text/plain")], length=len(body)) + body, then_close=True)

    def _asked(self, request: HttpRequest, wire: str, route: str, reply: GrowingReply) -> None:
        url = urlsplit(self.upstream(wire))
        kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        line = kind(url.hostname or "", url.port, timeout=TIMEOUT)
        sent = {name: value for name, value in request.headers.items() if name not in _NOT_SENT}
        key = self.environment.get(VENDORS[wire][2], "")
        sent |= {"x-api-key": key} if wire == "anthropic-messages" else {"authorization": f"Bearer {key}"}
        began = time.monotonic()
        try:
            line.request("POST", url.path + route, request.body, sent)
            answer = line.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            given = [(name, value) for name, value in headers.items() if name not in _NOT_GIVEN]
            reply.add(head(answer.status, given, length=None))
            body, ends, times = bytearray(), [], []
            broken = False
            try:
                while piece := answer.read1(1 << 16):
                    body += piece
                    if len(body) > MOST:
                        raise OverflowError(f"a reply of more than {MOST} bytes")
                    ends.append(len(body))
                    times.append(round((time.monotonic() - began) * 1000, 1))
                    reply.add(chunked(piece))
            except (OSError, http.client.HTTPException):
                broken = True
        finally:
            line.close()
        chunks = Chunks(tuple(ends), tuple(times))
        taped = Taped(f"/v1{route}", request.headers, request.body, answer.status, headers, bytes(body), chunks, broken)
        self.taped.append(taped)
        reply.end(b"" if broken else LAST_CHUNK, then_close=broken)
