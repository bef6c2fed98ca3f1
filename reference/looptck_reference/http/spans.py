"""A run's OpenTelemetry spans: one for the run, and inside it one for each model call and each tool call.

Names and attributes follow the GenAI semantic conventions: `invoke_agent NAME`, `chat MODEL`, `execute_tool TOOL`.
If no SDK is set up, OpenTelemetry's API makes spans that cost next to nothing and are not exported.

A run may yield text to its caller in the middle, so its span is never the current span of the caller's context. Spans
name their parents explicitly; only a tool's span is current while the tool runs, so that the tool's own spans become
its children.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from opentelemetry import context, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from looptck_reference.vocabulary.usage import counts

if TYPE_CHECKING:
    from looptck_reference.loop.loop import Loop
    from looptck_reference.vocabulary.values import ToolCall, Turn

__all__ = ["RunSpans", "Tracing"]


class RunSpans:
    """The spans inside one run."""

    def __init__(self, tracer: trace.Tracer, inside: context.Context, loop: Loop) -> None:
        self._tracer = tracer
        self._inside = inside
        self._loop = loop

    @contextmanager
    def model_call(self) -> Iterator[Span]:
        """The span of one model call."""
        model = self._loop.agent.model
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._loop.wire.provider,
            "gen_ai.request.model": model,
        }
        span = self._tracer.start_span(_name("chat", model), self._inside, SpanKind.CLIENT, attributes)
        with _ended(span):
            yield span

    @contextmanager
    def tool_call(self, call: ToolCall) -> Iterator[Span]:
        """The span of one tool call, which is current while the tool runs."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        span = self._tracer.start_span(_name("execute_tool", call.name), self._inside, attributes=attributes)
        with _ended(span), trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield span

    def not_run(self) -> None:
        """Record spans for the calls that could not be run since the last check."""
        while self._loop.not_run:
            call, error = self._loop.not_run.pop(0)
            with self.tool_call(call) as span:
                failed(span, error)


class Tracing:
    """The tracer provider of a run's spans: this one, or the one that OpenTelemetry was set up with.

    A subclass may change the parents of spans, and the spans inside them.
    """

    inside: ClassVar[type[RunSpans]] = RunSpans

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("looptck_reference", tracer_provider=provider)

    @contextmanager
    def run(self, loop: Loop) -> Iterator[RunSpans]:
        """The span of a run, below the caller's own."""
        agent = loop.agent
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": loop.wire.provider,
            "gen_ai.request.model": agent.model,
        }
        if agent.name:
            attributes["gen_ai.agent.name"] = agent.name
        span = self._tracer.start_span(_name("invoke_agent", agent.name), self.around(), attributes=attributes)
        with _ended(span):
            yield self.inside(self._tracer, trace.set_span_in_context(span), loop)

    def around(self) -> context.Context:
        """The context whose span is the parent of a run's span."""
        return context.get_current()


def answered(span: Span, turn: Turn) -> None:
    """Record the token usage of a model call."""
    for name, count in counts(turn.usage).items():
        span.set_attribute(f"gen_ai.usage.{name}", count)
    span.set_attribute("gen_ai.response.finish_reasons", [turn.stop.value])


def failed(span: Span, error: BaseException) -> None:
    """Mark a span as failed."""
    span.set_attribute("error.type", type(error).__qualname__)
    span.set_status(Status(StatusCode.ERROR, str(error)))


def _name(operation: str, subject: str) -> str:
    return f"{operation} {subject}" if subject else operation


@contextmanager
def _ended(span: Span) -> Iterator[None]:
    """End the span, as failed if an error passes through; a caller that stops reading is no error."""
    try:
        yield
    except GeneratorExit:
        raise
    except BaseException as error:
        failed(span, error)
        raise
    finally:
        span.end()
