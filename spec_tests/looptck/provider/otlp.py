"""The receiver of spans: an OTLP/HTTP endpoint of the kit's own, one for the whole session.

One, because an SDK is configured once in a process. So spans find their run by the id of their trace, which the kit
has chosen. What finds none is told to the runs that are under way: it may be what they lack.

Everything but ``open`` and ``close`` happens on the provider's thread.
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
    """Takes exports of spans, and gives each span to the transcript of its run."""

    def __init__(self) -> None:
        self.broken: Exception | None = None
        """What went wrong in the kit itself while it answered."""
        self._open: dict[str, Transcript] = {}
        self._over: dict[str, str | None] = {}
        """The ids of runs that are over, by that of their trace; None: it was given up."""
        self._late: Counter[str] = Counter()

    def open(self, trace: str, transcript: Transcript) -> None:
        """Let the spans of a trace go into a transcript."""
        self._open[trace] = transcript

    def close(self, trace: str, run: str | None) -> None:
        """The run of a trace is over: what comes from now on is late, unless the run (None) was given up."""
        self._over[trace] = run
        self._open.pop(trace, None)

    @property
    def late(self) -> dict[str, int]:
        """How many spans came after the end of their run, by its id."""
        return dict(self._late)

    def knows(self, trace: str) -> bool:
        """Whether a run was given this trace."""
        return trace in self._open or trace in self._over

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer any request below the prefix. What the kit itself does wrong is kept: it is no fault of the loop."""
        try:
            return self._answer(request)
        except Exception as error:  # noqa: BLE001 - see above
            self.broken = self.broken or error
            return None

    def _answer(self, request: HttpRequest) -> HttpReply:
        path = request.path.partition("?")[0]
        if (request.method, path) != ("POST", _ROUTE):
            why = f"{request.method} {path}: spans are to be posted to {_ROUTE}"
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
        """Give each span to its run, and tell of those that belong to none."""
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
            self._lose(f"spans came of a trace that no run was given: {shortened(names)}")

    def _lose(self, why: str) -> None:
        for transcript in list(self._open.values()):
            if sum(isinstance(event, LostSpans) for event in transcript.events) < _MOST_LOST:
                transcript.append(LostSpans(transcript.now(), why))


def _refusal(error: Unreadable, media_type: str) -> HttpReply:
    """What the specification of OTLP/HTTP wants to be said, in the encoding of the request where that is known."""
    if media_type.startswith(_JSON):
        return _reply(error.status, _JSON, compact({"message": str(error)}))
    if media_type.startswith(_PROTOBUF):
        return _reply(error.status, _PROTOBUF, _status(str(error)))
    return _reply(error.status, "text/plain", str(error).encode())


def _status(message: str) -> bytes:
    """A google.rpc.Status in protobuf with nothing but its field 2: the tag, the length as a varint, the text."""
    text = message.encode(errors="replace")
    length, rest = bytearray(), len(text)
    while rest > 0x7F:
        length.append(rest & 0x7F | 0x80)
        rest >>= 7
    return b"\x12" + bytes([*length, rest]) + text


def _reply(status: int, media_type: str, body: bytes) -> HttpReply:
    return HttpReply([head(status, [("content-type", media_type)], length=len(body)) + body])
