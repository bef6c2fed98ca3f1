"""The receiver of spans: one OTLP/HTTP endpoint for the whole session.

There is one endpoint because an SDK is configured once per process. Spans are assigned to runs by the trace id, which
looptck has chosen. Spans without a run are recorded in all open runs, since these may lack them.

Everything except ``open`` and ``close`` happens on the provider's thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from looptck.provider.http import HttpReply, HttpRequest, head
from looptck.provider.otlp_read import Unreadable, spans
from looptck.values.jsontext import compact
from looptck.values.outcome import shortened
from looptck.values.spans import Span
from looptck.values.transcript import LostSpans, Spanned, Transcript

PREFIX = "/otlp"
_ROUTE = f"{PREFIX}/v1/traces"
_MOST_LOST = 20
"""The most reports of lost spans that a run keeps."""
_JSON = "application/json"
_PROTOBUF = "application/x-protobuf"


class Receiver:
    """Receives exports of spans, and adds each span to the transcript of its run."""

    def __init__(self) -> None:
        self.broken: Exception | None = None
        """The first error in looptck itself while it answered."""
        self._open: dict[str, Transcript] = {}
        self._over: dict[str, str | None] = {}
        """The ids of ended runs by trace id; None: the run hung."""
        self._late: Counter[str] = Counter()

    def open(self, trace: str, transcript: Transcript) -> None:
        """Add the spans of a trace to a transcript from now on."""
        self._open[trace] = transcript

    def close(self, trace: str, run: str | None) -> None:
        """The run of a trace is over: further spans are late, unless the run hung (None)."""
        self._over[trace] = run
        self._open.pop(trace, None)

    @property
    def late(self) -> dict[str, int]:
        """The number of spans that came after the end of their run, by its id."""
        return dict(self._late)

    def knows(self, trace: str) -> bool:
        """Whether a run has this trace id."""
        return trace in self._open or trace in self._over

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer any request below the prefix. Errors in looptck itself are stored: they are not the loop's fault."""
        try:
            return self._answer(request)
        except Exception as error:  # noqa: BLE001 - see above
            self.broken = self.broken or error
            return None

    def _answer(self, request: HttpRequest) -> HttpReply:
        path = request.path.partition("?")[0]
        if (request.method, path) != ("POST", _ROUTE):
            why = f"{request.method} {path}: post spans to {_ROUTE}"
            self._lose(why)
            return _reply(404, "text/plain", why.encode())
        media_type = request.headers.get("content-type", "")
        try:
            found = spans(request.body, media_type, request.headers.get("content-encoding", ""))
        except Unreadable as error:
            self._lose(f"an export was refused with {error.status}: {error}")
            return _refusal(error, media_type)
        self._take(found)
        return _reply(200, _JSON, b"{}") if media_type.startswith(_JSON) else _reply(200, _PROTOBUF, b"")

    def _take(self, found: Iterable[Span]) -> None:
        """Add each span to its run, and report the spans that belong to none."""
        others: dict[str, list[str]] = defaultdict(list)
        for span in found:
            transcript = self._open.get(span.trace_id)
            if transcript is not None:
                transcript.append(Spanned(transcript.now(), span))
            elif span.trace_id not in self._over:
                others[span.trace_id].append(span.name)
            elif run := self._over[span.trace_id]:
                self._late[run] += 1
        for names in others.values():
            self._lose(f"spans with an unknown trace id: {shortened(names)}")

    def _lose(self, why: str) -> None:
        for transcript in list(self._open.values()):
            if sum(isinstance(event, LostSpans) for event in transcript.events) < _MOST_LOST:
                transcript.append(LostSpans(transcript.now(), why))


def _refusal(error: Unreadable, media_type: str) -> HttpReply:
    """The error reply of the OTLP/HTTP specification, in the encoding of the request if that is known."""
    if media_type.startswith(_JSON):
        return _reply(error.status, _JSON, compact({"message": str(error)}))
    if media_type.startswith(_PROTOBUF):
        return _reply(error.status, _PROTOBUF, _status(str(error)))
    return _reply(error.status, "text/plain", str(error).encode())


def _status(message: str) -> bytes:
    """A google.rpc.Status in protobuf with only field 2: the tag, the length as a varint, the text."""
    text = message.encode(errors="replace")
    length, rest = bytearray(), len(text)
    while rest > 0x7F:
        length.append(rest & 0x7F | 0x80)
        rest >>= 7
    return b"\x12" + bytes([*length, rest]) + text


def _reply(status: int, media_type: str, body: bytes) -> HttpReply:
    return HttpReply([head(status, [("content-type", media_type)], length=len(body)) + body])
