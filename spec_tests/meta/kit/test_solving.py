"""Loops of Solutions on the bench: what the kit hands them, what it decides, and what it sees of their runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from looptck import driver
from looptck.bench.bench import Bench, Patience
from looptck.bench.checks import Check, Implementation
from looptck.bench.choosing import bench_for
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, embedded, place, solution
from looptck.catalogue.requirements import Requirement
from looptck.cli.group import main
from looptck.drivers import DriverFault
from looptck.failures.failure import render_failure
from looptck.provider import gates
from looptck.provider.confirmation import Approve, Change, Reject, Replace
from looptck.provider.gate import Gate
from looptck.provider.toolbox import Returns
from looptck.values.cell import Cell
from looptck.values.transcript import GaveUp
from looptck.values.verdicts import NotReached, Result

CELL = Cell("openai-chat", stream=False, mode="async")
SOLVES = "python:meta.kit.solving:Solves"
ROW = Requirement("a-row", "agent-loop-010", "MUST", "A text.", (), "wire", "0.8.0")
TOOLS = [activity("fetch", city="string"), activity("store", value=""), activity("guess", latent=True, of="string")]
TWO = solution(call("fetch", {"city": "Paris"}, to="†state.x"), call("store", {"value": [1]}), output={"ok": True})
ENOUGH = 20.0
"""Seconds for what comes at once: never waited for, however slow the machine."""


@pytest.fixture(name="bench", scope="module")
def _kit() -> Iterator[Bench]:
    """The loop on the bench."""
    with bench_for(SOLVES, Patience(ENOUGH, ENOUGH)) as bench:
        yield bench


@pytest.fixture(name="scenario")
def _scene() -> Scenario:
    """Two calls and an output."""
    scenario = Scenario()
    scenario.plays(TWO)
    return scenario


@pytest.fixture(name="implementation")
def _implementation(bench: Bench, scenario: Scenario) -> Implementation:
    """The loop as a check of its profile sees it."""
    return Implementation(bench, Check(ROW, CELL, "a-case"), scenario)


def test_the_context_is_handed_over(implementation: Implementation) -> None:
    """The run begins with these messages and no others, and knows what its output is to be."""
    user = {"type": "data", "kind": "user", "data": {"name": "m1"}}
    context: list[dict[str, Any]] = [{"type": "text", "text": "Do it."}, user]
    schema = {"type": "object", "title": "m2"}

    run = implementation.run(context=context, output_schema=schema, tools=TOOLS)

    first = run.request(1)
    assert 3 == len(first.request.items)
    assert [user, schema] == embedded(first)
    assert [0, True] == [place(first, "Do it."), (place(first, "m1") or 0) < (place(first, "m2") or 0)]


def test_the_question_is_the_context_where_there_is_no_other(implementation: Implementation) -> None:
    """A check that is about something else says no more than its question."""
    run = implementation.run("Go on.", tools=TOOLS)

    assert ["Go on.", "{}"] == [item.text for item in run.request(1).request.items]  # type: ignore[union-attr]
    assert () == run.prompt


def test_the_output_comes_back(implementation: Implementation) -> None:
    """It is the JSON value of the outcome, and the end of the run."""
    run = implementation.run(tools=TOOLS)

    assert {"ok": True} == run.output
    assert ("a value", None, {"ok": True}) == run.ending
    assert 'returned the output {"ok": true}' == str(run.outcome)


def test_the_runs_of_tools_are_found(implementation: Implementation, scenario: Scenario) -> None:
    """Their arguments by tool, and when they began and ended."""
    scenario.returns("fetch", 7)

    run = implementation.run(tools=TOOLS)

    assert ([{"city": "Paris"}], [{"value": [1]}], []) == tuple(map(run.arguments_of, ("fetch", "store", "guess")))
    assert run.tool_began("fetch") <= run.tool_ended("fetch") <= run.tool_began("store") <= run.tool_ended("store")
    assert {"value": 7} == run.ran_of("fetch").answer


@pytest.mark.parametrize("asked", [("fetch", 2), ("guess", 1)])
def test_a_run_that_never_was_is_not_reached(implementation: Implementation, asked: tuple[str, int]) -> None:
    """A check that asks for it cannot pass by accident."""
    run = implementation.run(tools=TOOLS)

    for ask in (run.ran_of, run.tool_began, run.tool_ended):
        with pytest.raises(NotReached, match=f"run {asked[1]} of tool {asked[0]} never began"):
            ask(*asked)


def test_nobody_asks_unless_the_check_wants_it(implementation: Implementation) -> None:
    """The hook is there only in cases about it."""
    assert [] == implementation.run(tools=TOOLS).questions


@pytest.mark.parametrize(
    ("decision", "answer", "ran"),
    [
        (Approve(), {"decision": "approve"}, [("fetch", {"city": "Paris"})]),
        (
            Change({"city": "Rome"}),
            {"decision": "change", "parameters": {"city": "Rome"}},
            [("fetch", {"city": "Rome"})],
        ),
        (
            Replace(call("store", {"value": 2})),
            {"decision": "replace", "call": {"_tool": "store", "value": 2}},
            [("store", {"value": 2})],
        ),
        (Reject("Not that."), {"decision": "reject", "feedback": "Not that."}, []),
    ],
    ids=["approve", "change", "replace", "reject"],
)
def test_what_is_decided_reaches_the_loop(
    implementation: Implementation, scenario: Scenario, decision: Any, answer: dict[str, Any], ran: list[Any]
) -> None:
    """Each decision as the protocol words it; what the loop makes of it shows in the tools that ran."""
    scenario.decides(decision, about="fetch")

    run = implementation.run(tools=TOOLS, confirms=True)

    fetch, store = run.questions
    assert ({"_tool": "fetch", "city": "Paris", "_outputPath": "†state.x"}, answer) == (fetch.call, fetch.decision)
    assert ({"_tool": "store", "value": [1]}, {"decision": "approve"}) == (store.call, store.decision)
    assert [*ran, ("store", {"value": [1]})] == run.tools_ran


def test_a_question_without_its_tool(scenario: Scenario) -> None:
    """The driver is at fault, and is told what it has posted and what is wanted."""
    with bench_for("python:meta.kit.solving:AsksLikeOthers", Patience(ENOUGH, ENOUGH)) as bench:
        implementation = Implementation(bench, Check(ROW, CELL, "a-case"), scenario)

        with pytest.raises(DriverFault) as caught:
            implementation.run(tools=TOOLS, confirms=True)

    posted = '{"call": {"id": "c1", "name": "fetch", "arguments": {"city": "Paris"}}}'
    wanted = "post the call as the model wrote it: confirm(case, call=…)"
    assert f"a question has no `_tool`, {posted}; {wanted}" == caught.value.detail


def test_the_helper_posts_a_call_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """`confirm` takes a Call, or the parts of a call of a provider's API."""
    posted: list[Any] = []
    monkeypatch.setattr(driver, "post", lambda url, message: posted.append((url, message)))
    case: Any = {"confirm": "http://127.0.0.1/confirm"}
    written = {"_tool": "store", "value": "†state.x"}

    driver.confirm(case, call=written)
    driver.confirm(case, "c1", "store", {"value": 1})

    of_parts = {"id": "c1", "name": "store", "arguments": {"value": 1}}
    assert [(case["confirm"], {"call": call}) for call in (written, of_parts)] == posted


def test_a_decision_is_held_until_its_gate_opens(implementation: Implementation, scenario: Scenario) -> None:
    """A check lets the loop wait for a decision, and sees that it was asked."""
    held, asked = Gate("decided"), gates.confirmation_asked("fetch")
    scenario.decides(Approve(hold=held))
    scenario.watching = (asked,)

    running = implementation.begin(tools=TOOLS, confirms=True)
    assert asked.wait_here(ENOUGH)
    open_question = running.run.questions[0]
    held.open()
    run = implementation.end(running)

    assert (None, None) == (open_question.decision, open_question.decided)
    assert [] == [event for event in run.transcript.events if isinstance(event, GaveUp)]
    decided = run.questions[0].decided
    assert decided is not None
    assert run.questions[0].asked <= decided <= run.tool_began("fetch")


def test_a_gate_opens_when_a_tool_has_ended(implementation: Implementation, scenario: Scenario) -> None:
    """What waits for the first tool in the second goes on."""
    scenario.does("store", Returns(None, hold=gates.tool_ended("fetch")))

    assert [] == implementation.run(tools=TOOLS).gave_up


def test_a_failure_tells_what_was_asked_and_decided(implementation: Implementation, scenario: Scenario) -> None:
    """Both stand among what happened; the history of no request is called wrong, for nobody knows what it should be."""
    scenario.decides(Reject("Not that."))

    run = implementation.run(tools=TOOLS, confirms=True)
    result = Result("a-row", "agent-loop-010", "MUST", str(CELL), "a-case", "fail", "because")
    text = render_failure(implementation.check, result, run, "looptck run")

    assert 'question 1, may this call run: {"_tool": "fetch"' in text
    assert 'question 1 is answered: {"decision": "reject", "feedback": "Not that."}' in text
    assert "the first wrong request is" not in text


@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("Solves", 0, "ok    call [openai-chat/plain/async]"),
        ("Deaf", 1, "the Solution's output was a greeting, and the driver reported that the loop returned nothing"),
        ("Unclaimed", 1, "it gets cases without `context`; a loop of Solutions claims it: started(…, profiles=["),
        ("Idle", 1, "the toolbox saw nothing, not one call of weather; the loop returned the output 'Warm.'"),
    ],
)
def test_smoke_speaks_in_solutions(name: str, status: int, told: str) -> None:
    """A driver of a loop of Solutions is tried out with Solutions."""
    done = CliRunner().invoke(main, ["smoke", "--driver", f"python:meta.kit.solving:{name}", "--timeout", "20"])

    assert status == done.exit_code
    assert told in done.output
