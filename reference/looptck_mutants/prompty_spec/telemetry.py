"""Wrong spans: the parent of a run's span, its duration, and the spans inside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from opentelemetry import context, trace
from opentelemetry.trace import Span

from looptck_mutants.parts import breaks
from looptck_reference.http.spans import RunSpans, Tracing
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import ToolCall


@breaks("spec-run-is-one-span")
class OverAtTheThird(Tracing):
    """Ends the span of a run after its third model call."""

    class Counting(RunSpans):
        until: ExitStack
        calls = 0

        @contextmanager
        def model_call(self) -> Iterator[Span]:
            with super().model_call() as span:
                yield span
            self.calls += 1
            if self.calls == 3:
                self.until.close()

    inside = Counting

    @contextmanager
    def run(self, loop: Loop) -> Iterator[RunSpans]:
        with ExitStack() as until:
            spans = until.enter_context(super().run(loop))
            assert isinstance(spans, self.inside)
            spans.until = until
            yield spans


@breaks("spec-tool-span-for-each-call")
class NamelessTools(RunSpans):
    """Records tool spans without the tool's name."""

    @contextmanager
    def tool_call(self, call: ToolCall) -> Iterator[Span]:
        with super().tool_call(replace(call, name="tool")) as span:
            yield span


@breaks("spec-child-spans-are-nested")
class ChildrenBeside(Tracing):
    """Records the runs of children as siblings of their parent."""

    def around(self) -> context.Context:
        here = trace.get_current_span()
        if not here.is_recording():
            self.outside = context.get_current()
        return self.outside
