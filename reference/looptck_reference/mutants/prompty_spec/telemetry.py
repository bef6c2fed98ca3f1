"""Spans that are told otherwise: what the span of a run is below, how long it lasts, and what lies in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from opentelemetry import context, trace
from opentelemetry.trace import Span

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant, because
from looptck_reference.spans import RunSpans, Tracing
from looptck_reference.values import ToolCall


class OverAtTheThird(Mutant):
    """Ends the span of a run with its third model call: `spec-run-is-one-span`."""

    breaks = ("spec-run-is-one-span",)

    class tracing(Tracing):  # noqa: N801  the driver's attribute
        class inside(RunSpans):  # noqa: N801
            until: ExitStack
            calls = 0

            @contextmanager
            def model_call(self) -> Iterator[Span]:
                with super().model_call() as span:
                    yield span
                self.calls += 1
                if self.calls == 3:
                    self.until.close()

        @contextmanager
        def run(self, loop: Loop) -> Iterator[RunSpans]:
            with ExitStack() as until:
                told = until.enter_context(super().run(loop))
                assert isinstance(told, self.inside)
                told.until = until
                yield told


class NamelessTools(Mutant):
    """Tells of tools, and not of which: `spec-tool-span-for-each-call`."""

    breaks = ("spec-tool-span-for-each-call",)

    class tracing(Tracing):  # noqa: N801
        class inside(RunSpans):  # noqa: N801
            @contextmanager
            def tool_call(self, call: ToolCall) -> Iterator[Span]:
                with super().tool_call(replace(call, name="tool")) as span:
                    yield span


class ToolsUntold(Mutant):
    """Tells nothing of tools: `spec-tool-span-for-each-call`."""

    breaks = ("spec-tool-span-for-each-call",)
    also = because("the runs of children lie in no span of a tool", "spec-child-spans-are-nested")

    class tracing(Tracing):  # noqa: N801
        class inside(RunSpans):  # noqa: N801
            @contextmanager
            def tool_call(self, call: ToolCall) -> Iterator[Span]:
                yield trace.INVALID_SPAN


class ChildrenBeside(Mutant):
    """Tells the runs of children beside that of their parent: `spec-child-spans-are-nested`."""

    breaks = ("spec-child-spans-are-nested",)

    class tracing(Tracing):  # noqa: N801
        def around(self) -> context.Context:
            here = trace.get_current_span()
            if not here.is_recording():
                self.outside = context.get_current()
            return self.outside
