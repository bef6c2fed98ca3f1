"""Spans: a run tells what it did, nested as it happened, in the words of the GenAI semantic conventions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import respx
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from looptck_reference import CORE, PROMPTY_SPEC, Agent, Dialect, Runner, Tool
from looptck_reference.http.spans import Tracing
from looptck_reference.prompty.invoke import Invoker
from meta.reference.reference_files import child, write
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import QUESTION, TEXT_STREAM, URL, call, plain

MEMORY = InMemorySpanExporter()
PROVIDER = TracerProvider()
PROVIDER.add_span_processor(SimpleSpanProcessor(MEMORY))
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}


@pytest.fixture(autouse=True)
def _afresh() -> None:
    MEMORY.clear()


def run(handler: Callable[..., object] | None = None, *, dialect: Dialect = CORE, stream: bool = False) -> object:
    """The end of a run of a named agent with one tool."""
    agent = Agent("m", [QUESTION], [Tool("weather", handler=handler)], name="helper")
    with Runner(URL, "k", tracing=Tracing(PROVIDER)) as runner:
        try:
            return runner.run(agent, dialect=dialect, stream=stream)
        except Exception as error:  # noqa: BLE001 - its span is what these tests look at
            return error


def told() -> list[ReadableSpan]:
    """The spans that have ended, in the order in which they began."""
    return sorted(MEMORY.get_finished_spans(), key=lambda span: span.start_time or 0)


def tree() -> list[tuple[str, str | None]]:
    """Each span's name, and that of its parent."""
    names = {span.context.span_id: span.name for span in told()}
    return [(span.name, names.get(span.parent.span_id) if span.parent else None) for span in told()]


RUN = "invoke_agent helper"


@respx.mock
def test_spans_speak_the_conventions() -> None:
    """Operation, provider, model, agent, tool, call and tokens under their names."""
    replies({**plain(None, call()), "usage": USAGE}, plain("x"))

    run(lambda **_: "sunny")

    asked = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "m"}
    assert [
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", **asked},
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": 7,
            "gen_ai.usage.output_tokens": 3,
            "gen_ai.response.finish_reasons": ("calls",),
            **asked,
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.type": "function",
        },
        {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ("end",), **asked},
    ] == [dict(span.attributes or {}) for span in told()]


def failing(**_: object) -> str:
    """A tool that raises."""
    raise LookupError("no such city")


@respx.mock
@pytest.mark.parametrize(
    ("reply", "handler", "error"),
    [
        (plain(None, call()), failing, "LookupError"),
        (plain(None, call()), None, "UnknownTool"),
        (plain(None, call(name="nope")), failing, "UnknownTool"),
        (plain(None, call(arguments="{")), failing, "BadArguments"),
    ],
)
@pytest.mark.parametrize("dialect", [CORE, PROMPTY_SPEC])
def test_a_call_that_fails_has_a_span_that_failed(
    reply: dict[str, object], handler: Callable[..., object] | None, error: str, dialect: Dialect
) -> None:
    """Whether it was run or could not be, and whether the run goes on or ends with it."""
    replies(reply, plain("x"))

    ended = run(handler, dialect=dialect)

    (tool,) = (span for span in told() if span.name.startswith("execute_tool"))
    assert (error, trace.StatusCode.ERROR) == ((tool.attributes or {})["error.type"], tool.status.status_code)
    whole = told()[0]
    assert isinstance(ended, Exception) is (whole.status.status_code is trace.StatusCode.ERROR)


@respx.mock
def test_calls_that_could_not_be_run_are_told_in_their_order() -> None:
    """As those that were run are."""
    replies(plain(None, call("a", "first"), call("b", "second")), plain("x"))

    run()

    assert ["execute_tool first", "execute_tool second"] == [name for name, _ in tree() if "execute_tool" in name]


@respx.mock
def test_a_model_that_fails_fails_its_call_and_the_run() -> None:
    """Both say so."""
    replies({"error": {"message": "overloaded"}})

    run()

    assert [(RUN, None), ("chat m", RUN)] == tree()
    assert ["ProviderError"] * 2 == [(span.attributes or {})["error.type"] for span in told()]


@respx.mock
@pytest.mark.parametrize("mode", ["single", "agentic"])
def test_a_child_is_told_inside_its_call(tmp_path: Path, mode: str) -> None:
    """Its run is the child of the tool's span, and its model call that of its own."""
    write(tmp_path, "child")
    replies(plain(None, call("c1", "ask", "{}")), plain("In Paris."), plain("x"))

    Invoker(CORE, tracing=Tracing(PROVIDER)).invoke(write(tmp_path, more=child(mode)))

    assert [
        ("invoke_agent agent", None),
        ("chat m", "invoke_agent agent"),
        ("execute_tool ask", "invoke_agent agent"),
        ("invoke_agent child", "execute_tool ask"),
        ("chat m", "invoke_agent child"),
        ("chat m", "invoke_agent agent"),
    ] == tree()


@respx.mock
def test_a_stream_that_nobody_reads_to_its_end_is_no_failure(tmp_path: Path) -> None:
    """Its spans end when the caller lets go of it, and the caller's context was never theirs."""
    replies(TEXT_STREAM)
    stream = Invoker(CORE, tracing=Tracing(PROVIDER)).invoke(write(tmp_path, stream=True))
    assert not trace.get_current_span().get_span_context().is_valid
    assert [] == told()

    stream.close()  # type: ignore[union-attr]  # the prompt streams

    assert [("invoke_agent agent", None), ("chat m", "invoke_agent agent")] == tree()
    assert {trace.StatusCode.UNSET} == {span.status.status_code for span in told()}
