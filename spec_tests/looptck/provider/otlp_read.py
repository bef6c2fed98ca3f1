"""Exports of spans in OTLP/HTTP: the two encodings and the content encodings.

OTLP's JSON differs from protobuf's: ids are hexadecimal, 64-bit integers may be strings, enums are numbers.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from looptck.values.spans import Span, error_type

MOST = 16 * 1024 * 1024
"""The most bytes of an export after decompression."""

_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ("unset", "ok", "error")
_IDS = {length: re.compile(f"[0-9a-fA-F]{{{length}}}") for length in (16, 32)}
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class Unreadable(ValueError):
    """An export that cannot be read; ``status`` is the HTTP status of the reply."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def spans(body: bytes, media_type: str, encoding: str) -> list[Span]:
    """The spans of an export. Raises Unreadable."""
    read = _READERS.get(media_type.partition(";")[0].strip().lower())
    if read is None:
        raise Unreadable(f"the content type {media_type!r} is none of {', '.join(_READERS)}", 415)
    return read(unpacked(body, encoding.strip().lower()))


def unpacked(body: bytes, encoding: str) -> bytes:
    """A decompressed body. Raises Unreadable if the content encoding is unknown or the body too large."""
    if encoding in {"", "identity"}:
        plain, rest = body, b""
    elif encoding in _PACKED:
        unpacker = zlib.decompressobj(_PACKED[encoding])
        try:
            plain = unpacker.decompress(body, MOST + 1)
        except zlib.error as error:
            raise Unreadable(f"the body is not {encoding}: {error}") from error
        rest = unpacker.unused_data
        if len(plain) <= MOST and (rest or not unpacker.eof):
            raise Unreadable(f"the body is not one complete {encoding} stream")
    else:
        raise Unreadable(f"the content encoding {encoding!r} is none of identity, {', '.join(_PACKED)}", 415)
    if len(plain) > MOST:
        raise Unreadable(f"an export of more than {MOST} bytes", 413)
    return plain


# -- protobuf ---------------------------------------------------------------------------------------------------------


def _from_protobuf(body: bytes) -> list[Span]:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no types
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        export = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise Unreadable(f"the body is not an ExportTraceServiceRequest in protobuf: {error}") from error
    return [
        _span(
            ids=(one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex()),
            name=one.name,
            kind=one.kind,
            times=(one.start_time_unix_nano, one.end_time_unix_nano),
            status=one.status.code,
            attributes=_pairs(one.attributes, _protobuf_value),
            events=[(event.name, _pairs(event.attributes, _protobuf_value)) for event in one.events],
        )
        for resource in export.resource_spans
        for scope in resource.scope_spans
        for one in scope.spans
    ]


def _pairs(pairs: Iterable[Any], value: Callable[[Any], Any]) -> dict[str, Any]:
    return {pair.key: value(pair.value) for pair in pairs}


def _protobuf_value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_protobuf_value(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        return _pairs(value.kvlist_value.values, _protobuf_value)
    return None if kind is None else getattr(value, kind)


# -- JSON -------------------------------------------------------------------------------------------------------------


def _from_json(body: bytes) -> list[Span]:
    try:
        export = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the body is not JSON: {error}") from error
    if not isinstance(export, dict):
        raise Unreadable("the body is not a JSON object with resourceSpans")
    try:
        return [
            _span(
                ids=(_text(one, "traceId"), _text(one, "spanId"), _text(one, "parentSpanId")),
                name=_text(one, "name"),
                kind=_number(one, "kind"),
                times=(_number(one, "startTimeUnixNano"), _number(one, "endTimeUnixNano")),
                status=_number(one.get("status") or {}, "code"),
                attributes=_json_pairs(one),
                events=[(_text(event, "name"), _json_pairs(event)) for event in _list(one, "events")],
            )
            for resource in _list(export, "resourceSpans")
            for scope in _list(resource, "scopeSpans")
            for one in _list(scope, "spans")
        ]
    except (AttributeError, TypeError, RecursionError) as error:  # a member has the wrong type
        raise Unreadable(f"the body is not OTLP's JSON: {error}") from error


def _list(holder: Mapping[str, Any], key: str, default: Sequence[Any] = ()) -> list[Any]:
    found = holder.get(key) or default
    if not isinstance(found, list | tuple):
        raise Unreadable(f"{key} is {_short(found)}, not a list")
    return list(found)


def _text(holder: Mapping[str, Any], key: str) -> str:
    found = holder.get(key) or ""
    if not isinstance(found, str):
        raise Unreadable(f"{key} is {_short(found)}, not a string")
    return found.encode(errors="replace").decode()  # JSON can escape half of a surrogate pair, which cannot be encoded


def _number(holder: Mapping[str, Any], key: str) -> int:
    found = holder.get(key) or 0
    if isinstance(found, str) and re.fullmatch(r"-?[0-9]{1,20}", found):
        return int(found)
    if not isinstance(found, int):
        raise Unreadable(f"{key} is {_short(found)}, not an integer")
    return found


def _json_pairs(holder: Mapping[str, Any], key: str = "attributes") -> dict[str, Any]:
    return {_text(pair, "key"): _json_value(pair.get("value") or {}) for pair in _list(holder, key)}


def _json_value(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Unreadable(f"the value of an attribute is {_short(value)}, not an object with its type")
    if "arrayValue" in value:
        return [_json_value(one) for one in _list(value["arrayValue"], "values")]
    if "kvlistValue" in value:
        return _json_pairs(value["kvlistValue"], "values")
    if "intValue" in value:
        return _number(value, "intValue")
    return next(
        (value[kind] for kind in ("stringValue", "boolValue", "doubleValue", "bytesValue") if kind in value), None
    )


# -- both -------------------------------------------------------------------------------------------------------------


def _span(
    *,
    ids: tuple[str, str, str],
    name: str,
    kind: int,
    times: tuple[int, int],
    status: int,
    attributes: dict[str, Any],
    events: list[tuple[str, dict[str, Any]]],
) -> Span:
    trace, span, parent = ids
    return Span(
        trace_id=_id(trace, 32, name),
        span_id=_id(span, 16, name),
        parent_id=_id(parent, 16, name) if parent.strip("0") else None,
        name=name,
        kind=_word(_KINDS, kind, name),
        attributes=attributes,
        start=times[0],
        end=times[1],
        status=_word(_STATUSES, status, name),
        error_type=error_type(attributes, events),
    )


def _id(text: str, length: int, span: str) -> str:
    if not _IDS[length].fullmatch(text) or not text.strip("0"):
        raise Unreadable(f"the span {_short(span)} has the id {_short(text)}, which is not {length // 2} bytes in hex")
    return text.lower()


def _word(words: Sequence[str], number: int, span: str) -> str:
    if not 0 <= number < len(words):
        raise Unreadable(f"the span {_short(span)} has the enum value {number}, not one of 0 to {len(words) - 1}")
    return words[number]


def _short(value: object) -> str:
    return f"{value!r:.60}"


_READERS: dict[str, Callable[[bytes], list[Span]]] = {
    "application/x-protobuf": _from_protobuf,
    "application/json": _from_json,
}
