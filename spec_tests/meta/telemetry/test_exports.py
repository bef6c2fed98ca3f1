"""Exports of spans as they are read: both encodings say the same, and what is no export is refused."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1 import trace_pb2

from looptck.provider import otlp_read
from looptck.provider.otlp_read import Unreadable, unpacked
from looptck.provider.otlp_read import spans as read
from looptck.values.spans import Span

TRACE = "5b8efff798038103d269b633813fc60c"
PROTOBUF, JSON = "application/x-protobuf", "application/json"


def export(**more: Any) -> bytes:
    """An export in JSON of one span that holds this beside its ids."""
    told = {"traceId": TRACE, "spanId": "01" * 8, **more}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [told]}]}]}).encode()


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=3)
TIMES = st.integers(0, 2**63)


def in_protobuf(value: Any) -> AnyValue:
    """A value as OTLP has it in protobuf."""
    match value:
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=map(in_protobuf, value)))
        case _:
            return AnyValue(kvlist_value=KeyValueList(values=pairs_in_protobuf(value)))


def pairs_in_protobuf(pairs: dict[str, Any]) -> list[KeyValue]:
    """Attributes as OTLP has them in protobuf."""
    return [KeyValue(key=key, value=in_protobuf(value)) for key, value in pairs.items()]


def in_json(value: Any) -> dict[str, Any]:
    """A value as OTLP has it in JSON."""
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": value if abs(value) < 2**53 else str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": list(map(in_json, value))}}
        case _:
            return {"kvlistValue": {"values": pairs_in_json(value)}}


def pairs_in_json(pairs: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP has them in JSON."""
    return [{"key": key, "value": in_json(value)} for key, value in pairs.items()]


@given(name=NAMES, attributes=ATTRIBUTES, exception=ATTRIBUTES, times=st.tuples(TIMES, TIMES), kind=st.integers(0, 5))
@settings(max_examples=50)
def test_both_encodings_say_the_same(
    name: str, attributes: dict[str, Any], exception: dict[str, Any], times: tuple[int, int], kind: int
) -> None:
    """Any span, in protobuf and in JSON, is the same span."""
    one = trace_pb2.Span(
        trace_id=bytes.fromhex(TRACE),
        span_id=b"\x01" * 8,
        parent_span_id=b"\x02" * 8,
        name=name,
        kind=kind,  # type: ignore[arg-type]  # a number is what is sent
        start_time_unix_nano=times[0],
        end_time_unix_nano=times[1],
        attributes=pairs_in_protobuf(attributes),
        events=[trace_pb2.Span.Event(name="exception", attributes=pairs_in_protobuf(exception))],
        status=trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR),
    )
    resource = trace_pb2.ResourceSpans(scope_spans=[trace_pb2.ScopeSpans(spans=[one])])
    protobuf = ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString()
    body = export(
        traceId=TRACE.upper(),
        parentSpanId="02" * 8,
        name=name,
        kind=kind,
        startTimeUnixNano=str(times[0]),
        endTimeUnixNano=times[1],
        attributes=pairs_in_json(attributes),
        events=[{"name": "exception", "attributes": pairs_in_json(exception), "timeUnixNano": "1"}],
        status={"code": 2, "message": "x"},
        flags=257,
    )

    (by_protobuf,), (by_json,) = read(protobuf, PROTOBUF, ""), read(body, f"{JSON}; charset=utf-8", "identity")

    assert by_protobuf == by_json
    assert (TRACE, "01" * 8, "02" * 8) == (by_json.trace_id, by_json.span_id, by_json.parent_id)
    assert (name, attributes, *times) == (by_json.name, by_json.attributes, by_json.start, by_json.end)


def error_told(**more: Any) -> str | None:
    """The error that a span tells of, which holds this beside its ids."""
    (one,) = read(export(**more), JSON, "")
    return one.error_type


def test_an_error_is_told_in_either_place() -> None:
    """The attribute of the conventions comes first; else the exception that the span tells of."""
    error = pairs_in_json({"error.type": "limit"})
    events = [{"name": "note"}, {"name": "exception", "attributes": pairs_in_json({"exception.type": "LookupError"})}]

    assert None is error_told(parentSpanId=None)
    assert "LookupError" == error_told(events=events)
    assert "limit" == error_told(attributes=error, events=events)


PACKED = {
    "not packed": (b"{}", "gzip", "the body is not gzip: "),
    "cut": (gzip.compress(b"{}" * 99)[:-3], "gzip", "the body is not one complete gzip stream"),
    "nothing": (b"", "deflate", "the body is not one complete deflate stream"),
    "more than one": (gzip.compress(b"{}") * 2, "gzip", "the body is not one complete gzip stream"),
}


@pytest.mark.parametrize("what", PACKED)
def test_broken_packing_is_refused(what: str) -> None:
    """What is not packed as it says is refused."""
    body, encoding, told = PACKED[what]

    with pytest.raises(Unreadable, match=told) as refused:
        unpacked(body, encoding)
    assert 400 == refused.value.status


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_large_exports_are_refused(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export that is large when it is unpacked is refused before all of it is unpacked; the largest passes."""
    monkeypatch.setattr(otlp_read, "MOST", 1000)
    packed: Any = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}[encoding]

    with pytest.raises(Unreadable, match="an export of more than 1000 bytes") as refused:
        unpacked(packed(b" " * 1001), encoding)
    assert 413 == refused.value.status
    assert b" " * 1000 == unpacked(packed(b" " * 1000), encoding)


def read_or_refused(body: bytes, media_type: str) -> list[Span]:
    """The spans of an export; none where it is refused."""
    try:
        return read(body, media_type, "")
    except Unreadable:
        return []


@given(body=st.binary(max_size=200), media_type=st.sampled_from([JSON, PROTOBUF]))
@settings(max_examples=50)
def test_any_bytes_are_read_or_refused(body: bytes, media_type: str) -> None:
    """Whatever is posted is an export or is refused; nothing else happens."""
    found = read_or_refused(body, media_type)

    assert all(len(span.trace_id) == 32 for span in found)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(TRACE),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resourceSpans", "scopeSpans", "spans", "traceId", "spanId", "attributes", "key", "value", "events"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(told=st.dictionaries(st.sampled_from(["attributes", "events", "status", "name", "kind", "spanId"]), JSON_VALUES))
@settings(max_examples=50)
def test_any_json_is_read_or_refused(told: dict[str, Any]) -> None:
    """A span in JSON may hold anything anywhere, and is read or refused."""
    found = read_or_refused(export(**told), JSON)

    assert {TRACE} >= {span.trace_id for span in found}
