"""Drivers whose spans do not reach the kit, or not as they should: each is a class whose docstring states its fault."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import httpx
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from meta.telemetry.telling import Driver, InMemory, Json


class Silent(Driver):
    """Sends its spans nowhere."""

    def exporter(self, url: str) -> SpanExporter:
        return InMemorySpanExporter()


class OwnTrace(Driver):
    """Begins a trace of its own."""

    def traceparent(self, given: str) -> str:
        return ""


class OwnTraceInMemory(InMemory):
    """Begins a trace of its own, and keeps it in this process."""

    def traceparent(self, given: str) -> str:
        return ""


class WrongPath(Driver):
    """Takes the endpoint for the place itself that spans are posted to."""

    def processor(self, endpoint: str) -> SpanProcessor:
        return SimpleSpanProcessor(_Posting(self.client, endpoint, b"{}", "application/json"))


class Garbage(Driver):
    """Exports bytes that are no protobuf."""

    def exporter(self, url: str) -> SpanExporter:
        return _Posting(self.client, url, b"\xff\xff spans", "application/x-protobuf")


class Yaml(Driver):
    """Exports what it calls YAML."""

    def exporter(self, url: str) -> SpanExporter:
        return _Posting(self.client, url, b"resourceSpans: []", "application/yaml")


class Late(Driver):
    """Exports the spans of all its runs when it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[ReadableSpan] = []
        self.url = ""

    def exporter(self, url: str) -> SpanExporter:
        self.url = url
        return _Keeping(self.kept)

    def stop(self) -> None:
        if self.kept:
            OTLPSpanExporter(self.url).export(self.kept)
        super().stop()


class KeepsNonsense(InMemory):
    """Keeps what are no spans."""

    def __init__(self) -> None:
        super().__init__()
        self.span_exporter = _Nonsense()


class LateAndHangs(Late):
    """Never ends its first run, and exports the spans of it much later."""

    def call(self, case: Json, function: Json) -> str:
        threading.Event().wait()
        return ""


class _Posting(SpanExporter):
    """Posts the same bytes for each span, whatever they are answered with."""

    def __init__(self, client: httpx.Client, url: str, body: bytes, media_type: str) -> None:
        self._client = client
        self._url = url
        self._body = body
        self._headers = {"content-type": media_type}

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._client.post(self._url, content=self._body, headers=self._headers)
        return SpanExportResult.SUCCESS


class _Keeping(SpanExporter):
    """Keeps the spans in a list."""

    def __init__(self, kept: list[ReadableSpan]) -> None:
        self._kept = kept

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._kept.extend(spans)
        return SpanExportResult.SUCCESS


class _Nonsense(InMemorySpanExporter):
    """Holds a text where spans should be."""

    def get_finished_spans(self) -> Any:
        return ("a span",)


class NeverAsks(Driver):
    """Answers without the model, and tells of it well."""

    def ask(self, case: Json, messages: list[Json]) -> Json:
        return {"role": "assistant", "content": "Done."}
