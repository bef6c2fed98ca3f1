"""Loops that tell of their runs wrongly: each is a driver whose docstring states the fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from opentelemetry.context import Context
from opentelemetry.trace import Span, get_current_span, set_span_in_context

from meta.telemetry.telling import Driver, Telling


class _Forgets(Telling):
    """Makes no spans of one operation; what lies below them lies below what is above them."""

    forgotten: ClassVar[str]

    @contextmanager
    def span(self, operation: str, subject: str, above: Context) -> Iterator[Context]:
        if operation == self.forgotten:
            yield above
        else:
            with super().span(operation, subject, above) as below:
                yield below


class _PutsBeside(Telling):
    """Puts the spans of one operation beside the run, in the same trace."""

    beside: ClassVar[str]

    def begin(self, operation: str, subject: str, above: Context) -> Span:
        return super().begin(operation, subject, self.above if operation == self.beside else above)


class ForgetsTools(Driver):
    """Tells of no tool call."""

    class telling(_Forgets):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        forgotten = "execute_tool"


class ForgetsTheRun(Driver):
    """Tells of model calls and tool calls, and not of the run that they belong to."""

    class telling(_Forgets):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        forgotten = "invoke_agent"


class PutsToolsBeside(Driver):
    """Tells of tool calls beside the run, in the same trace."""

    class telling(_PutsBeside):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        beside = "execute_tool"


class PutsModelCallsBeside(Driver):
    """Tells of model calls beside the run, in the same trace."""

    class telling(_PutsBeside):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        beside = "chat"


class ForgetsNames(Driver):
    """Tells of tool calls without naming the tool."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        def begin(self, operation: str, subject: str, above: Context) -> Span:
            return super().begin(operation, "" if operation == "execute_tool" else subject, above)


class TellsTwice(Driver):
    """Tells of each tool call in two spans."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        @contextmanager
        def span(self, operation: str, subject: str, above: Context) -> Iterator[Context]:
            with super().span(operation, subject, above) as below:
                if operation == "execute_tool":
                    self.end(self.begin(operation, subject, below))
                yield below


class TellsOfTwoRuns(Driver):
    """Tells of a second run where there is one."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        def begin(self, operation: str, subject: str, above: Context) -> Span:
            if operation == "invoke_agent":
                self.end(super().begin(operation, subject, above))
            return super().begin(operation, subject, above)


class EndsEarly(Driver):
    """Ends the span of the run with the first model call."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        @contextmanager
        def span(self, operation: str, subject: str, above: Context) -> Iterator[Context]:
            with super().span(operation, subject, above) as below:
                yield below
            if operation == "chat":
                self.end(get_current_span(above))

        def end(self, span: Span) -> None:
            if span.is_recording():
                super().end(span)


class DropsFailures(Driver):
    """Tells nothing of a run or a tool call that ends in an error."""

    class telling(Telling):  # noqa: N801 - the driver's attribute
        """The bent spans."""

        @contextmanager
        def span(self, operation: str, subject: str, above: Context) -> Iterator[Context]:
            span = self.begin(operation, subject, above)
            yield set_span_in_context(span, above)
            self.end(span)
