"""Spans as values: what they are about, what they name, and how they lie in each other."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from looptck.values.spans import TICK, Span, Spans, departures, of_sdk

TRACE = "5b8efff798038103d269b633813fc60c"


def span(id: int, name: str = "a", above: int = 0, *, start: int = 0, end: int = 10, **attributes: Any) -> Span:
    """A span with a short id."""
    told = {key.replace("__", "."): value for key, value in attributes.items()}
    parent = f"{above:016x}" if above else None
    return Span(
        trace_id=TRACE, span_id=f"{id:016x}", parent_id=parent, name=name, attributes=told, start=start, end=end
    )


@pytest.mark.parametrize(
    ("name", "attribute", "operation"),
    [
        ("invoke_agent", None, "invoke_agent"),
        ("invoke_agent weather", None, "invoke_agent"),
        ("invoke_agent: weather", None, "invoke_agent"),
        ("Agent.run", "invoke_agent", "invoke_agent"),
        ("invoke_agent", "chat", "chat"),
        ("invoke_agent_async", None, "invoke_agent_async"),
        ("invoke_agent", 7, "invoke_agent"),
        ("", None, ""),
    ],
)
def test_what_a_span_is_about(name: str, attribute: Any, operation: str) -> None:
    """The attribute of the conventions says it, and without that the first word of the name."""
    attributes = {} if attribute is None else {"gen_ai__operation__name": attribute}

    assert operation == span(1, name, **attributes).operation


@pytest.mark.parametrize(
    ("name", "attributes", "tool"),
    [
        ("execute_tool ping", {}, "ping"),
        ("execute_tool: ping", {}, "ping"),
        ("execute_tool", {"gen_ai__tool__name": "ping"}, "ping"),
        ("execute_tool one", {"gen_ai__tool__name": "ping"}, "ping"),
        ("execute_tool", {"text": "a ping", "called": "ping"}, "ping"),
        ("execute_tool", {"called": "pong"}, None),
        ("execute_tool", {"called": 7}, None),
        ("execute_tool pong", {"called": "ping"}, "pong"),
    ],
)
def test_the_tool_that_a_span_names(name: str, attributes: dict[str, Any], tool: str | None) -> None:
    """The attribute of the conventions, the rest of the name, or any attribute that is the name of a known tool."""
    assert tool == span(1, name, **attributes).tool(["ping", "weather"])


def test_how_spans_lie_in_each_other() -> None:
    """Parents, their parents, and all that lies below, whatever the order in which they came."""
    run, tool, child, deep, beside = (
        span(1, "invoke_agent", 99, start=0),
        span(2, "execute_tool x", 1, start=2),
        span(3, "invoke_agent", 2, start=3),
        span(4, "chat", 3, start=4),
        span(5, "chat", 99, start=5),
    )
    spans = Spans([beside, deep, child, tool, run])

    assert [run, tool, child, deep, beside] == list(spans)
    assert [child, tool, run] == spans.ancestors(deep)
    assert [] == spans.ancestors(run)
    assert [tool] == spans.children(run)
    assert [tool, child, deep] == spans.inside(run)
    assert [run] == spans.outermost("invoke_agent")
    assert [deep, beside] == spans.of("chat", "execute")
    assert ["", "  ", "    ", "      ", ""] == [line[: len(line) - len(line.lstrip())] for line in spans.lines()]


def test_a_span_that_came_twice_counts_once() -> None:
    """An exporter that tries again sends the same span once more."""
    assert [span(1)] == list(Spans([span(1), span(1)]))


def test_spans_in_a_circle_lie_in_each_other_and_do_not_hang() -> None:
    """Parents that go round are followed once round, and one that is its own parent has none."""
    around = Spans([span(1, above=2, start=1), span(2, above=3, start=2), span(3, above=1, start=3)])
    alone = Spans([span(1, above=1)])

    first = next(iter(around))
    assert ["2", "3"] == [one.span_id[-1] for one in around.ancestors(first)]
    assert [] == alone.ancestors(next(iter(alone)))
    assert [] == alone.children(next(iter(alone)))


@pytest.mark.parametrize(
    ("start", "end", "within"),
    [
        (100, 200, True),
        (100 - TICK, 200 + TICK, True),
        (99 - TICK, 200, False),
        (100, 201 + TICK, False),
        (300 + TICK, 400 + TICK, False),
    ],
)
def test_times_may_miss_by_a_tick(start: int, end: int, within: bool) -> None:
    """A span that is outside of another by no more than a tick of a clock is within it."""
    assert within == span(2, start=start, end=end).within(span(1, start=100, end=200))


CONVENTIONAL: dict[str, Any] = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "ping"}


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (span(1, "execute_tool ping", **CONVENTIONAL), []),
        (span(1, "ping", **CONVENTIONAL), ["execute_tool under the name 'ping'"]),
        (span(1, "execute_tool pong", **CONVENTIONAL), ["execute_tool under the name 'execute_tool pong'"]),
        (
            span(1, "execute_tool ping"),
            ["execute_tool without gen_ai.operation.name", "execute_tool without gen_ai.tool.name"],
        ),
        (
            span(1, "invoke_agent", gen_ai__operation__name="invoke_agent"),
            ["invoke_agent without gen_ai.provider.name"],
        ),
        (span(1, "chat m", gen_ai__operation__name="chat", gen_ai__provider__name="x", gen_ai__request__model="m"), []),
    ],
)
def test_departures_from_the_conventions(one: Span, told: list[str]) -> None:
    """A departure is told in a few words; a span that keeps to the conventions has none."""
    assert told == list(departures(one))


def test_the_kind_of_a_tools_span_may_depart() -> None:
    """The conventions want the span of a tool call to be internal."""
    one = Span(trace_id=TRACE, span_id="1" * 16, parent_id=None, name="execute_tool x", kind="client", start=0, end=1)

    assert "execute_tool of the kind client" in list(departures(one))


def test_spans_of_the_sdk_are_read() -> None:
    """What an in-memory exporter holds is read as it would be from an export of it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("meta")
    with suppress(LookupError), tracer.start_as_current_span("above"):
        tracer.start_span("below", attributes={"text": "x", "many": ["a", "b"]}).end()
        raise LookupError("no such city")

    below, above = map(of_sdk, exporter.get_finished_spans())

    assert (above.span_id, above.trace_id) == (below.parent_id, below.trace_id)
    assert ("above", None, "error", "LookupError") == (above.name, above.parent_id, above.status, above.error_type)
    assert ("internal", "unset", None) == (below.kind, below.status, below.error_type)
    assert {"text": "x", "many": ("a", "b")} == below.attributes
    assert above.start <= below.start <= below.end <= above.end
