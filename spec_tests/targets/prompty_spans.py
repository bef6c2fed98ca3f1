"""Prompty's spans: its own OpenTelemetry backend, and an exporter that sends them where the case says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.context import attach, detach
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prompty import Tracer
from prompty.tracing.otel import otel_tracer

Json = dict[str, Any]

_LOCK = threading.Lock()
_providers: dict[str, TracerProvider] = {}
"""By endpoint, of which there is one for all runs."""


@contextmanager
def traced(case: Json) -> Iterator[None]:
    """Run a case below the span that it names, and export what the run told before it is over."""
    telemetry = case.get("telemetry")
    if telemetry is None:
        yield
        return
    provider = _provider(telemetry["endpoint"])
    token = attach(TraceContextTextMapPropagator().extract({"traceparent": telemetry["traceparent"]}))
    try:
        yield
    finally:
        detach(token)
        provider.force_flush()


def _provider(endpoint: str) -> TracerProvider:
    """Prompty's tracers are the process's; a run that is not to be traced has no parent, and its spans are dropped."""
    with _LOCK:
        if endpoint not in _providers:
            provider = TracerProvider(sampler=ParentBased(ALWAYS_OFF))
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
            Tracer.add("otel", otel_tracer(provider=provider))
            _providers[endpoint] = provider
        return _providers[endpoint]
