"""Spans: the OpenTelemetry spans of a run, and questions about how they are nested.

The operation of a span is read from the attribute of the GenAI semantic conventions, or else from its name, since the
documents ask for spans by name and without attributes. Departures from the conventions are recorded and not judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass

INVOKE_AGENT = "invoke_agent"
EXECUTE_TOOL = "execute_tool"
MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion", "execute"})
"""The operations of a model call: those of the conventions, and that of the Prompty runtime specification, §9."""

TICK = 2_000_000
"""The tolerance for the times of two spans, in nanoseconds: some SDKs take the beginning of a span from a clock with
millisecond ticks, and its duration from a finer clock."""

_OPERATION = "gen_ai.operation.name"
_TOOL = "gen_ai.tool.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span that has ended. Ids are lower-case hexadecimal; times are nanoseconds on the clock of its creator."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str = "internal"
    attributes: Mapping[str, Any] = field(default_factory=dict)
    start: int
    end: int
    status: str = "unset"
    """``unset``, ``ok`` or ``error``."""
    error_type: str | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def operation(self) -> str:
        """The operation: ``invoke_agent``, ``execute_tool``, one of `MODEL_CALLS`, or any other."""
        operation = self.attributes.get(_OPERATION)
        return operation if isinstance(operation, str) and operation else self.words[0]

    def tool(self, known: Collection[str]) -> str | None:
        """The name of the span's tool; None if there is none.

        The name may be in the conventions' attribute, after the first word of the span's name, or in any attribute that
        equals the name of a known tool: the document asks for a span "for" the tool, without saying how the span names
        it.
        """
        tool = self.attributes.get(_TOOL) or self.words[1]
        if isinstance(tool, str) and tool:
            return tool
        return next((one for one in self.attributes.values() if isinstance(one, str) and one in known), None)

    @property
    def lasted(self) -> int:
        """The duration in nanoseconds."""
        return self.end - self.start

    def within(self, other: Span) -> bool:
        """Whether it began and ended during the other span."""
        return other.start - TICK <= self.start and self.end <= other.end + TICK

    @property
    def words(self) -> tuple[str, str]:
        """The first word of the span's name, and the rest."""
        first, _, rest = self.name.strip().partition(" ")
        return first.rstrip(":"), rest.strip()


class Spans:
    """The spans of one trace, in the order in which they began, without duplicates."""

    def __init__(self, spans: Collection[Span] = ()) -> None:
        self._by_id = {span.span_id: span for span in sorted(spans, key=lambda one: (one.start, -one.end))}

    def __iter__(self) -> Iterator[Span]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def of(self, *operations: str) -> list[Span]:
        """The spans with one of these operations."""
        return [span for span in self if span.operation in operations]

    def ancestors(self, span: Span) -> list[Span]:
        """The parent of a span, the parent's parent, and so on, as far as known."""
        found: list[Span] = []
        above = self._by_id.get(span.parent_id or "")
        while above is not None and above != span and above not in found:
            found.append(above)
            above = self._by_id.get(above.parent_id or "")
        return found

    def children(self, span: Span) -> list[Span]:
        """The children of a span."""
        return [one for one in self if one.parent_id == span.span_id and one != span]

    def inside(self, span: Span) -> list[Span]:
        """The descendants of a span."""
        return [one for one in self if span in self.ancestors(one)]

    def outermost(self, operation: str) -> list[Span]:
        """The spans with an operation that have no ancestor with the same operation."""
        of = self.of(operation)
        return [span for span in of if not any(above in of for above in self.ancestors(span))]

    def lines(self) -> Iterator[str]:
        """A line for each span, indented below its parent, with its times in milliseconds since the first began."""
        first = min((span.start for span in self), default=0)
        for span in self:
            start, end = ((at - first) / 1e6 for at in (span.start, span.end))
            failed = f", failed with {span.error_type}" if span.error_type else ""
            yield f"{'  ' * len(self.ancestors(span))}{span} ({start:.1f} to {end:.1f}{failed})"


def of_sdk(span: Any) -> Span:
    """A finished span from a span of OpenTelemetry's SDK for Python, or an object like it.

    Raises:
        AttributeError, TypeError, ValueError: it is not like one.
    """
    attributes = dict(span.attributes or {})
    return Span(
        trace_id=f"{span.context.trace_id:032x}",
        span_id=f"{span.context.span_id:016x}",
        parent_id=f"{span.parent.span_id:016x}" if span.parent else None,
        name=span.name,
        kind=span.kind.name.lower(),
        attributes=attributes,
        start=int(span.start_time),
        end=int(span.end_time),
        status=span.status.status_code.name.lower(),
        error_type=error_type(attributes, [(event.name, event.attributes or {}) for event in span.events]),
    )


def error_type(attributes: Mapping[str, Any], events: Collection[tuple[str, Mapping[str, Any]]]) -> str | None:
    """The type of the error that a span reports, in its own attributes or in an exception event."""
    type = attributes.get("error.type")
    for name, of_event in events:
        if type is None and name == "exception":
            type = of_event.get("exception.type")
    return None if type is None else str(type)


def departures(span: Span) -> Iterator[str]:
    """The departures of a span from the GenAI semantic conventions."""
    operation = span.operation
    if _OPERATION not in span.attributes:
        yield f"{operation} without {_OPERATION}"
    if operation != EXECUTE_TOOL and "gen_ai.provider.name" not in span.attributes:
        yield f"{operation} without gen_ai.provider.name"
    if operation == EXECUTE_TOOL and _TOOL not in span.attributes:
        yield f"{operation} without {_TOOL}"
    first, rest = span.words
    subject = span.attributes.get(_SUBJECTS.get(operation, "gen_ai.request.model"), rest)
    if (operation, subject) != (first, rest):
        yield f"{operation} under the name {span.name!r}"
    kinds = _KINDS.get(operation, ("client", "internal"))
    if span.kind not in kinds:
        yield f"{operation} of the kind {span.kind}"


_SUBJECTS = {INVOKE_AGENT: "gen_ai.agent.name", EXECUTE_TOOL: _TOOL}
"""The attribute after the operation in the name of a span; for a model call it is the model."""
_KINDS = {EXECUTE_TOOL: ("internal",)}
