"""Profile ``prompty-spec``: the spans of a run, and how they are nested.

These checks judge the spans of agents, model calls and tools. Work that a driver does around the loop, such as loading
an agent, may have other spans at any place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.gate import Gate
from looptck.provider.script import Hold, Step
from looptck.spec.rounds import asks
from looptck.values.plain import plain
from looptck.values.spans import EXECUTE_TOOL, INVOKE_AGENT, MODEL_CALLS, TICK, Span, departures
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

MOMENT = 0.1
"""Seconds for which the last reply is held: long compared with the resolution of any clock that measures spans."""


def _seen(run: Run) -> str:
    """The spans of a run and those that were lost: the first place to look for a missing span."""
    traced = ", ".join(f"{count} × {name}" for name, count in Counter(map(str, run.spans)).items()) or "none at all"
    return "; ".join((f"the spans of the run: {traced}", *run.lost_spans))


def _whole(run: Run) -> Span:
    """The span of the run."""
    found = run.spans.outermost(INVOKE_AGENT)

    assert 1 == len(found), f"{len(found)} outermost spans {INVOKE_AGENT}, not 1; {_seen(run)}"
    return found[0]


def _lie_below(run: Run, above: Span, spans: Collection[Span]) -> None:
    """Assert that each of these spans has the other span as an ancestor."""
    below = run.spans.inside(above)
    for span in spans:
        assert span in below, f"the span {span} is not a descendant of {above}; {_seen(run)}"


def _wrapped(run: Run, whole: Span, spans: Collection[Span]) -> None:
    """Assert that each of these spans is a descendant of the whole span and within its time."""
    _lie_below(run, whole, spans)
    for span in spans:
        assert span.within(whole), f"the span {span} begins or ends outside of the time of {whole}; {_seen(run)}"


def _is_one_span(run: Run) -> None:
    """Assert that one span contains all spans of agents, model calls and tools."""
    whole = _whole(run)
    _wrapped(run, whole, [span for span in run.spans.of(INVOKE_AGENT, EXECUTE_TOOL, *MODEL_CALLS) if span != whole])


def _each_call_has_a_span(run: Run, *tools: str) -> None:
    named = [span.tool(run.offered) for span in run.spans.of(EXECUTE_TOOL)]

    assert Counter(tools) == Counter(named), (
        f"tool calls: {plain([*tools])}; the spans name: {plain(named)}; {_seen(run)}"
    )
    _lie_below(run, _whole(run), run.spans.of(EXECUTE_TOOL))


@requirement("spec-run-is-one-span")
def test_span_around_rounds(scenario: Scenario, implementation: Implementation) -> None:
    """Two rounds of tools, the first with two calls, and the answer are in one span."""
    scenario.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Paris"})), asks(2), says("Done."))

    run = implementation.run(telemetry=True)

    run.delivered(3)
    _is_one_span(run)
    implementation.diverges(
        "spans of model calls", ", ".join(sorted({*map(str, run.spans.of(*MODEL_CALLS))})) or "none"
    )
    traced = {one for span in run.spans.of(INVOKE_AGENT, EXECUTE_TOOL, *MODEL_CALLS) for one in departures(span)}
    implementation.diverges("span conventions", "; ".join(sorted(traced)) or "kept")


@requirement("spec-run-is-one-span")
def test_span_around_an_answer(scenario: Scenario, implementation: Implementation) -> None:
    """A run without tools has a span too."""
    scenario.plays(says("Hello."))

    run = implementation.run(telemetry=True)

    run.delivered(1)
    _is_one_span(run)


@requirement("spec-run-is-one-span")
@pytest.mark.parametrize("fault", ["limit", "tool"])
def test_span_around_a_failed_run(scenario: Scenario, implementation: Implementation, fault: str) -> None:
    """A run that ends at the limit, or with a tool's error, has a span like any other."""
    scenario.always(asks)
    if fault == "tool":
        scenario.raises("note", "the pencil broke")

    run = implementation.run(telemetry=True)

    run.delivered(1)
    if not run.failed:
        raise NotReached(f"the run did not fail: the loop {run.outcome}")
    _is_one_span(run)
    whole = _whole(run)
    error = "reported" if whole.error_type else "not reported"
    implementation.diverges("span of a failed run", f"status {whole.status}, type of the error {error}")


@requirement("spec-run-is-one-span")
def test_span_lasts(scenario: Scenario, implementation: Implementation) -> None:
    """The span does not end with a round of tools, nor while the end of the answer is held."""
    moment = Gate("a moment passes", patience=MOMENT)
    last = Step(says("A story."), holds=(Hold(moment, after=None),)) if implementation.cell.stream else None
    scenario.plays(calls(Call.of("ping"), Call.of("ping")), asks(2), last or Step(says("A story."), before=moment))

    run = implementation.run(telemetry=True)

    run.delivered(3)
    if [moment.name] != run.gave_up:
        raise NotReached(f"the loop did not wait for the end of the answer: it {run.outcome}")
    took = (run.replied(3).at - run.request(1).at) * 1e9
    lasted = _whole(run).lasted
    assert took <= lasted + TICK, f"the loop was busy for {took / 1e6:.0f} ms, and the span lasts {lasted / 1e6:.0f} ms"


@requirement("spec-tool-span-for-each-call")
def test_span_for_each_call(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls of two tools, two of them in one turn, have a span each, below the span of the run."""
    weather = [Call.of("weather", {"city": city}) for city in ("Paris", "Oslo")]
    scenario.plays(calls(Call.of("ping"), weather[0]), calls(weather[1]), says("Done."))

    run = implementation.run(telemetry=True)

    run.delivered(3)
    _each_call_has_a_span(run, "ping", "weather", "weather")


@requirement("spec-tool-span-for-each-call")
def test_span_of_a_raising_tool(scenario: Scenario, implementation: Implementation) -> None:
    """A call whose tool raises has a span, like the call before it."""
    scenario.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Atlantis"})), says("Sorry."))
    scenario.raises("weather", "there is no such city", "LookupError")

    run = implementation.run(telemetry=True)

    run.delivered(1)
    if ["ping", "weather"] != [tool for tool, _ in run.tools_ran]:
        raise NotReached(f"the tools that ran are {run.tools_ran}, not ping and then weather")
    _each_call_has_a_span(run, "ping", "weather")


def _around_the_child(run: Run, tool: str, answered: int) -> Span:
    """The span that must contain the child: that of its tool call, or else that of its parent.

    That a tool call has a span is another requirement. If it has none, the child must still be traced: every request
    has a model call.

    Decided by the parent's answer.
    """
    run.delivered(answered)
    found = [span for span in run.spans.of(EXECUTE_TOOL) if span.tool(run.offered) == tool]
    whole = _whole(run)
    below = run.spans.inside(found[0] if found else whole)
    traced = [span for span in run.spans.of(*MODEL_CALLS) if span in below]
    if found:
        assert below, f"no span is below {found[0]}; {_seen(run)}"
        assert traced or not run.spans.of(*MODEL_CALLS), f"no model call is below {found[0]}; {_seen(run)}"
    else:
        assert len(run.requests) <= len(traced), (
            f"{len(traced)} model call spans, {len(run.requests)} needed; {_seen(run)}"
        )
    _wrapped(run, found[0] if found else whole, below)
    return found[0] if found else whole


@requirement("spec-child-spans-are-nested")
def test_spans_of_an_agentic_child(scenario: Scenario, implementation: Implementation) -> None:
    """The child's run is in the span of its tool call, and the child's own tool call in the child's run."""
    scenario.plays(
        calls(Call.of("consult", {"question": "Where is it warm?"})),
        calls(Call.of("lookup", {"topic": "warmth"})),
        says("In the south."),
        says("Done."),
    )

    run = implementation.run(agent="parent", inputs={"audience": "children"}, as_file=True, telemetry=True)

    around = _around_the_child(run, "consult", 4)
    children = [span for span in run.spans.inside(around) if span.operation == INVOKE_AGENT]
    assert 1 == len(children), f"{len(children)} spans {INVOKE_AGENT} are below {around}, not 1; {_seen(run)}"
    _wrapped(run, children[0], [span for span in run.spans.of(EXECUTE_TOOL) if span.tool(["lookup"]) == "lookup"])
    _is_one_span(run)


@requirement("spec-child-spans-are-nested")
def test_spans_of_a_single_child(scenario: Scenario, implementation: Implementation) -> None:
    """The model call of a child without a loop is in the span of its tool call."""
    scenario.plays(calls(Call.of("summarize", {"text": "A long story."})), says("It was long."), says("Done."))

    run = implementation.run(agent="parent", inputs={"audience": "children"}, as_file=True, telemetry=True)

    _around_the_child(run, "summarize", 3)
    _is_one_span(run)
