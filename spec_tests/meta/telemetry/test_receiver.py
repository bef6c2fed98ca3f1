"""The receiver of spans over real HTTP: what it takes, what it refuses and how it says so, and whose is what comes."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # has no types

from looptck.provider import otlp
from looptck.provider.http import HttpRequest
from looptck.provider.otlp import Receiver
from looptck.provider.server import Provider
from looptck.values.transcript import LostSpans, Spanned, Transcript

JSON, PROTOBUF = "application/json", "application/x-protobuf"
OURS, OTHER = "a" * 32, "b" * 32


def export(*traces: str, **more: Any) -> bytes:
    """An export in JSON of one span for each of these traces."""
    told = [{"traceId": trace, "spanId": f"{n:016x}", "name": f"span {n}", **more} for n, trace in enumerate(traces, 1)]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": told}]}]}).encode()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """A provider that serves."""
    with Provider() as one:
        yield one


@pytest.fixture
def transcript(provider: Provider) -> Iterator[Transcript]:
    """The transcript of a run whose trace is ours."""
    one = Transcript()
    provider.spans.open(OURS, one)
    yield one
    provider.spans.close(OURS, None)


def post(
    provider: Provider, body: bytes, media_type: str = JSON, encoding: str = "", *, path: str = "/otlp/v1/traces"
) -> tuple[int, str, bytes]:
    """Status, content type and body of the answer to an export."""
    connection = HTTPConnection(provider.origin.removeprefix("http://"), timeout=20.0)
    headers = {"content-type": media_type} | ({"content-encoding": encoding} if encoding else {})
    try:
        connection.request("POST", path, body, headers)
        with connection.getresponse() as response:
            return response.status, response.headers["content-type"], response.read()
    finally:
        connection.close()


def names(transcript: Transcript) -> list[str]:
    """The spans that came, by name."""
    return [event.span.name for event in transcript.events if isinstance(event, Spanned)]


def lost(transcript: Transcript) -> list[str]:
    """What was lost, in words."""
    return [event.why for event in transcript.events if isinstance(event, LostSpans)]


@pytest.mark.parametrize(
    ("encoding", "packed"), [("", bytes), ("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_spans_go_to_the_run_of_their_trace(
    provider: Provider, transcript: Transcript, encoding: str, packed: Any
) -> None:
    """Spans of a run's trace stand in its transcript, however they are packed; the answer has nothing to add."""
    told = post(provider, packed(export(OURS, OURS)), encoding=encoding)

    assert (200, JSON, b"{}") == told
    assert ["span 1", "span 2"] == names(transcript)
    assert [] == lost(transcript)


def test_an_empty_protobuf_is_an_empty_export(provider: Provider, transcript: Transcript) -> None:
    """No bytes are a whole message in protobuf, with nothing in it; the answer is another."""
    assert (200, PROTOBUF, b"") == post(provider, b"", PROTOBUF)
    assert [] == transcript.events


def test_spans_of_two_runs_stay_apart(provider: Provider, transcript: Transcript) -> None:
    """One export may tell of several runs, and each of them gets its own."""
    other = Transcript()
    provider.spans.open(OTHER, other)

    post(provider, export(OURS, OTHER, OURS))

    provider.spans.close(OTHER, None)
    assert (["span 1", "span 3"], ["span 2"]) == (names(transcript), names(other))


def test_spans_of_an_unknown_trace_are_told(provider: Provider, transcript: Transcript) -> None:
    """A run that is under way is told of spans that no run was given a trace for, in one line for each trace."""
    post(provider, export("c" * 32, OURS, "c" * 32))

    assert ["span 2"] == names(transcript)
    assert ['spans with an unknown trace id: ["span 1", "span 3"]'] == lost(transcript)


def test_lost_spans_do_not_flood_a_run(provider: Provider, transcript: Transcript) -> None:
    """Of a loop that tells everything under foreign traces, the first of it is enough."""
    for _ in range(30):
        post(provider, export("c" * 32))

    assert 20 == len(lost(transcript))


def test_what_comes_while_no_run_listens_is_dropped(provider: Provider) -> None:
    """A loop whose SDK is set up for good exports the runs that nobody asked to be told of, and may."""
    assert 200 == post(provider, export("c" * 32))[0]


def test_late_spans_are_counted_by_run() -> None:
    """Spans of a run that is over are counted for it, and those of one that was given up are not."""
    receiver = Receiver()
    over, given_up = Transcript(), Transcript()
    for trace, one, run in ((OURS, over, "r1"), (OTHER, given_up, None)):
        receiver.open(trace, one)
        receiver.close(trace, run)

    headers = {"content-type": JSON}
    receiver.answer(HttpRequest("POST", "/otlp/v1/traces", headers, export(OURS, OTHER, OURS)))

    assert {"r1": 2} == receiver.late
    assert [] == over.events + given_up.events
    assert (True, True, False) == (receiver.knows(OURS), receiver.knows(OTHER), receiver.knows("c" * 32))


@pytest.mark.parametrize("path", ["/otlp", "/otlp/", "/otlp/v1/logs", "/otlp/v1/traces/", "/otlp/v1/metrics?x=1"])
def test_other_places_are_told(provider: Provider, transcript: Transcript, path: str) -> None:
    """What is posted elsewhere below the endpoint is answered with where spans are to be posted, and lost."""
    status, _, body = post(provider, export(OURS), path=path)

    why = f"POST {path.partition('?')[0]}: post spans to /otlp/v1/traces"
    assert (404, why, [why]) == (status, body.decode(), lost(transcript))


REFUSED = {
    "no JSON": (b"spans", "the body is not JSON: "),
    "a list": (b"[]", "the body is not a JSON object with resourceSpans"),
    "too deep": (b'{"resourceSpans":' * 100_000, "the body is not JSON: "),
    "a short trace id": (export("ab"), "has the id 'ab', which is not 16 bytes in hex"),
    "a trace id in base 64": (export("W47/95gDgQPSabYzgT/GDA=="), "which is not 16 bytes in hex"),
    "a trace id of zeros": (export("0" * 32), "which is not 16 bytes in hex"),
    "no span id": (export(OURS, spanId=None), "has the id '', which is not 8 bytes in hex"),
    "a numeric span id": (export(OURS, spanId=7), "spanId is 7, not a string"),
    "a wrong parent": (export(OURS, parentSpanId="x"), "has the id 'x', which is not 8 bytes in hex"),
    "an enum by name": (export(OURS, kind="SPAN_KIND_CLIENT"), "kind is 'SPAN_KIND_CLIENT', not an integer"),
    "an unknown kind": (export(OURS, kind=6), "has the enum value 6, not one of 0 to 5"),
    "an unknown status": (export(OURS, status={"code": -1}), "has the enum value -1, not one of 0 to 2"),
    "a time with a fraction": (export(OURS, startTimeUnixNano=1.5), "startTimeUnixNano is 1.5, not an integer"),
    "a time without end": (export(OURS, endTimeUnixNano="9" * 5000), "endTimeUnixNano is '99999"),
    "attributes as a mapping": (export(OURS, attributes={"a": "b"}), "attributes is {'a': 'b'}, not a list"),
    "an attribute as a text": (export(OURS, attributes=["a"]), "the body is not OTLP's JSON: "),
    "a plain value": (
        export(OURS, attributes=[{"key": "a", "value": "b"}]),
        "the value of an attribute is 'b', not an object with its type",
    ),
    "spans as a mapping": (b'{"resourceSpans": {"a": 1}}', "resourceSpans is {'a': 1}, not a list"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_json_that_is_no_export_is_refused(provider: Provider, transcript: Transcript, what: str) -> None:
    """What OTLP does not write in JSON is refused with a reason, which the run that lacks its spans is told."""
    body, told = REFUSED[what]

    status, media_type, answer = post(provider, body)

    assert (400, JSON) == (status, media_type)
    assert told in json.loads(answer)["message"]
    assert [f"an export was refused with 400: {json.loads(answer)['message']}"] == lost(transcript)
    assert [] == names(transcript)


def test_protobuf_that_is_no_export_is_refused(provider: Provider, transcript: Transcript) -> None:
    """The refusal of protobuf is protobuf, as OTLP wants it."""
    status, media_type, answer = post(provider, b"\xff\xff", PROTOBUF)

    message = Status.FromString(answer).message
    assert (400, PROTOBUF) == (status, media_type)
    assert message.startswith("the body is not an ExportTraceServiceRequest in protobuf: ")
    assert [f"an export was refused with 400: {message}"] == lost(transcript)


@pytest.mark.parametrize("length", [0, 1, 127, 128, 300, 16383, 16384, 70_000])
def test_a_refusal_has_any_length(length: int) -> None:
    """The status that is written by hand is the one that Google's own code reads."""
    text = "ł" * (length // 2) + "x" * (length % 2)

    assert text == Status.FromString(otlp._status(text)).message


@pytest.mark.parametrize(
    ("media_type", "encoding", "told"),
    [
        ("text/plain", "", "the content type 'text/plain' is none of application/x-protobuf, application/json"),
        ("", "", "the content type '' is none of"),
        (JSON, "br", "the content encoding 'br' is none of identity, gzip, deflate"),
        (PROTOBUF, "zstd", "the content encoding 'zstd' is none of"),
    ],
)
def test_what_it_does_not_speak_is_refused(
    provider: Provider, transcript: Transcript, media_type: str, encoding: str, told: str
) -> None:
    """Another content type or encoding is refused with 415."""
    assert 415 == post(provider, export(OURS), media_type, encoding)[0]
    assert told in lost(transcript)[0]


def test_half_a_surrogate_is_replaced(provider: Provider, transcript: Transcript) -> None:
    """JSON can escape what no text can hold, and a report has to be written all the same."""
    assert 200 == post(provider, export(OURS, name="a \ud800"))[0]
    assert ["a ?"] == names(transcript)


def test_the_kits_own_fault_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the receiver itself is kept for the kit, and the export has no answer."""
    receiver = Receiver()
    broken = RuntimeError("the kit is broken")

    def read(*_: object) -> None:
        raise broken

    monkeypatch.setattr("looptck.provider.otlp.spans", read)

    assert None is receiver.answer(HttpRequest("POST", "/otlp/v1/traces", {}, b""))
    assert broken is receiver.broken
