"""Drivers that tell of their runs in spans: a small loop over Chat Completions, and OpenTelemetry's SDK.

All of these are well behaved; they differ in how they word their spans, and in how the spans reach the kit.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import httpx
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Json = dict[str, Any]
Emit = Callable[[str], None]


class Driver:
    """Exports over OTLP/HTTP in protobuf, each span as it ends."""

    telling: ClassVar[type[Telling]]
    """How it makes its spans."""

    def __init__(self) -> None:
        self.client = httpx.Client(trust_env=False, timeout=30.0)

    def start(self) -> Json:
        """What it is."""
        return {
            "name": "telling", "version": "1", "language": "python", "wires": ["openai-chat"],
            "modes": ["sync", "async"], "profiles": ["prompty-spec"],
            "capabilities": {"spans": True, "concurrent": True},
        }  # fmt: skip

    def stop(self) -> None:
        """Close what it has opened."""
        self.client.close()

    def run(self, case: Json, emit: Emit) -> Json:
        """Run a case below the span that it names."""
        told = case["telemetry"]
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(self.processor(told["endpoint"]))
        above = TraceContextTextMapPropagator().extract({"traceparent": self.traceparent(told["traceparent"])})
        telling = self.telling(provider, above)
        try:
            return {"kind": "value", "text": self.loop(case, telling)}
        except Exception as error:  # noqa: BLE001 - whatever the loop raises is the outcome
            return {"kind": "error", "reason": "other", "type": type(error).__name__, "message": str(error)}
        finally:
            self.flush(provider)

    async def run_async(self, case: Json, emit: Emit) -> Json:
        """Run a case on a thread."""
        return await asyncio.to_thread(self.run, case, emit)

    def flush(self, provider: TracerProvider) -> None:
        """Let nothing be on its way when the run is over."""
        provider.shutdown()

    def traceparent(self, given: str) -> str:
        """What its spans lie below."""
        return given

    def processor(self, endpoint: str) -> SpanProcessor:
        """What takes its spans."""
        return SimpleSpanProcessor(self.exporter(f"{endpoint}/v1/traces"))

    def exporter(self, url: str) -> SpanExporter:
        """What sends its spans."""
        return OTLPSpanExporter(url)

    def loop(self, case: Json, telling: Telling) -> str:
        """Ask the model, run its calls, and again, up to ten times."""
        with telling.span("invoke_agent", "assistant", telling.above) as run:
            messages = list(case["messages"])
            for _ in range(10):
                with telling.span("chat", case["model"], run):
                    message = self.ask(case, messages)
                messages.append(message)
                calls = message.get("tool_calls", [])
                if not calls:
                    return message["content"] or ""
                for call in calls:
                    with telling.span("execute_tool", call["function"]["name"], run):
                        text = self.call(case, call["function"])
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            raise RuntimeError("Agent loop exceeded 10 iterations")

    def ask(self, case: Json, messages: list[Json]) -> Json:
        """The model's next message."""
        tools = [
            {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
            for tool in case["tools"]
        ]
        body = {"model": case["model"], "messages": messages, "tools": tools}
        reply = self.client.post(f"{case['base_url']}/chat/completions", json=body).raise_for_status()
        message: Json = reply.json()["choices"][0]["message"]
        return message

    def call(self, case: Json, function: Json) -> str:
        """What a tool returns; raises what it raises."""
        url = next(tool["url"] for tool in case["tools"] if tool["name"] == function["name"])
        reply = self.client.post(url, json={"arguments": json.loads(function["arguments"])}).json()
        if error := reply.get("error"):
            raise type(error["type"], (Exception,), {})(error["message"])
        return str(reply["value"])


class Telling:
    """The spans of one run, as a driver makes them."""

    def __init__(self, provider: TracerProvider, above: Context) -> None:
        self.above = above
        self.tracer = provider.get_tracer("telling")

    @contextmanager
    def span(self, operation: str, subject: str, above: Context) -> Iterator[Context]:
        """A span while something lasts; the context for those below it."""
        span = self.begin(operation, subject, above)
        try:
            yield set_span_in_context(span, above)
        except Exception as error:
            span.record_exception(error)
            raise
        finally:
            self.end(span)

    def begin(self, operation: str, subject: str, above: Context) -> Span:
        """Begin a span."""
        return self.tracer.start_span(f"{operation} {subject}", above)

    def end(self, span: Span) -> None:
        """End a span."""
        span.end()


Driver.telling = Telling


# -- other words -----------------------------------------------------------------------------------------------------


class Bare(Driver):
    """Names its spans by the words of the document alone, and its tools in an attribute of its own."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The other words."""

        def begin(self, operation: str, subject: str, above: Context) -> Span:
            return self.tracer.start_span(
                "execute" if operation == "chat" else operation, above, attributes={"of": subject}
            )


class InAttributes(Driver):
    """Names its spans as it likes, and says what they are about in the attributes of the conventions."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The other words."""

        def begin(self, operation: str, subject: str, above: Context) -> Span:
            attributes = {"gen_ai.operation.name": operation, "gen_ai.tool.name": subject}
            return self.tracer.start_span("a step", above, attributes=attributes)


class Surrounded(Driver):
    """Works inside spans of its own, and prepares each run in another."""

    def loop(self, case: Json, telling: Telling) -> str:
        with telling.span("serve", "a case", telling.above) as telling.above:
            with telling.span("load", "the agent", telling.above):
                pass
            return super().loop(case, telling)


# -- other ways to the kit --------------------------------------------------------------------------------------------


class Gzipped(Driver):
    """Packs its exports with gzip."""

    def exporter(self, url: str) -> SpanExporter:
        return OTLPSpanExporter(url, compression=Compression.Gzip)


class Deflated(Driver):
    """Packs its exports with deflate."""

    def exporter(self, url: str) -> SpanExporter:
        return OTLPSpanExporter(url, compression=Compression.Deflate)


class Batched(Driver):
    """Exports all spans of a run together, when it is asked to flush."""

    def processor(self, endpoint: str) -> SpanProcessor:
        return BatchSpanProcessor(self.exporter(f"{endpoint}/v1/traces"))


class JsonExporter(SpanExporter):
    """Exports in JSON, packed, as an SDK for browsers does."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client = client
        self._url = url

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        body = {"resourceSpans": [{"scopeSpans": [{"spans": [self._told(span) for span in spans]}]}]}
        headers = {"content-type": "application/json; charset=utf-8", "content-encoding": "deflate"}
        reply = self._client.post(self._url, content=zlib.compress(json.dumps(body).encode()), headers=headers)
        return SpanExportResult.SUCCESS if reply.json() == {} else SpanExportResult.FAILURE

    @staticmethod
    def _told(span: ReadableSpan) -> Json:
        context = span.get_span_context()
        assert context is not None
        return {
            "traceId": f"{context.trace_id:032X}",
            "spanId": f"{context.span_id:016X}",
            "parentSpanId": f"{span.parent.span_id:016X}" if span.parent else "",
            "name": span.name,
            "kind": 1,
            "startTimeUnixNano": str(span.start_time),
            "endTimeUnixNano": span.end_time,
            "status": {},
        }


class AsJson(Driver):
    """Exports in JSON."""

    def exporter(self, url: str) -> SpanExporter:
        return JsonExporter(self.client, url)


class InMemory(Driver):
    """Keeps the spans of all its runs in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.span_exporter = InMemorySpanExporter()

    def exporter(self, url: str) -> SpanExporter:
        return self.span_exporter

    def flush(self, provider: TracerProvider) -> None:
        provider.force_flush()  # an exporter that was shut down keeps nothing more
