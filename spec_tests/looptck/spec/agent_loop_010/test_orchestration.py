"""Profile ``agent-loop-010``: which calls of a turn run, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import behind, call, solution
from looptck.provider import gates
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.framing import DEFAULT

X = {"value": "†state.x"}

TOGETHER = {
    "two": [call("a", to="†state.a"), call("b", to="†state.b")],
    "five": [call(f"tool{n}", to=f"†state.x{n}") for n in range(5)],
    "of-one-tool": [call("a", {"value": n}, to=f"†state.x{n}") for n in range(3)],
}
"""Calls without dependencies, no more than fit into a pool of workers that a language has by default."""


def _names(calls: Sequence[dict[str, Any]]) -> list[str]:
    """The tools of some calls, one for each call."""
    return [one["_tool"] for one in calls]


def _ran(run: Run, wanted: Sequence[str]) -> None:
    """Assert that the turn is over and that all of these tools have run."""
    run.request(2)
    lost = sorted({*wanted} - {tool for tool, _ in run.tools_ran})
    assert [] == lost, f"request 2 came, and no call of {' or '.join(lost)} had run"


def _ran_once(run: Run, wanted: Sequence[str]) -> None:
    """Assert that the turn is over and that each of these tools has run once."""
    run.request(2)
    assert Counter(wanted) == Counter(tool for tool, _ in run.tools_ran)


@requirement("loop010-unblocked-calls-run-together")
@pytest.mark.parametrize("calls", TOGETHER.values(), ids=TOGETHER)
def test_independent_calls_run_together(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]]
) -> None:
    """None of the calls ends before all have begun."""
    names = _names(calls)
    together = gates.tools_began(len(names))
    for name in names:
        scenario.does(name, Returns("a result", hold=together))
    scenario.plays(solution(*calls), DONE)

    run = implementation.run(tools=tools(*dict.fromkeys(names)))

    _ran(run, names)
    assert [] == run.gave_up, "a call began only after another had ended"


@requirement("loop010-unblocked-calls-run-together")
def test_what_one_result_unblocks_runs_together(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls that wait for one result all begin before any of them ends."""
    waiting = ["a", "b", "c"]
    together = gates.tools_began(4)
    for name in waiting:
        scenario.does(name, Returns("a result", hold=together))
    scenario.plays(
        solution(call("fetch", to="†state.x"), *(call(name, X, to=f"†state.{name}") for name in waiting)), DONE
    )

    run = implementation.run(tools=tools("fetch", *waiting))

    _ran(run, ["fetch", *waiting])
    assert [] == run.gave_up, "a call began only after another had ended"


FETCH = call("fetch", to="†state.x")
USE = call("use", X, to="†state.used")
CHAIN = [
    call("first", to="†state.y"),
    call("second", {"value": "†state.y"}, to="†state.z"),
    call("third", {"value": "†state.z"}, to="†state.third"),
]
"""Calls that run while another call is blocked: when the last one begins, two results have been stored."""
STEPS = ["first", "second", "third"]
"""The tools of `CHAIN`."""


@requirement("loop010-blocked-calls-wait")
@pytest.mark.parametrize("calls", [[USE, FETCH, *CHAIN], [FETCH, USE, *CHAIN], [*CHAIN, FETCH, USE]])
def test_a_blocked_call_waits(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]]
) -> None:
    """A call does not begin while its dependency runs, though other calls arrive and complete meanwhile."""
    scenario.does("fetch", Returns("a result", hold=gates.tool_began("third")))
    scenario.plays(solution(*calls), DONE)

    run = implementation.run(tools=tools("fetch", "use", *STEPS))

    run.request(2)
    assert run.tool_ended("fetch") <= run.tool_began("use")


BOTH = {
    "left-first": {"value": "†state.x", "other": "†state.y"},
    "right-first": {"value": "†state.y", "other": "†state.x"},
    "nested": {"value": {"list": [1, "†state.x"], "object": {"deep": ["†state.y"]}}},
}
"""Parameters that need two results; the result of y comes last."""


@requirement("loop010-blocked-calls-wait")
@pytest.mark.parametrize("parameters", BOTH.values(), ids=BOTH)
def test_a_call_waits_for_all_that_it_needs(
    scenario: Scenario, implementation: Implementation, parameters: dict[str, Any]
) -> None:
    """One of two results exists, and another call has begun with it: a call that needs both still waits."""
    scenario.does("late", Returns("a result", hold=gates.tool_began("witness")))
    scenario.plays(
        solution(
            call("join", parameters, to="†state.join"),
            FETCH,
            call("late", to="†state.y"),
            call("witness", X, to="†state.witness"),
        ),
        DONE,
    )

    run = implementation.run(tools=tools("fetch", "late", "witness", "join"))

    run.request(2)
    assert run.tool_ended("late") <= run.tool_began("join"), "join began before late, to which it refers, had ended"


@requirement("loop010-blocked-calls-wait")
@on("openai-chat")
def test_a_path_that_is_written_anew(scenario: Scenario, implementation: Implementation) -> None:
    """A call that reads a path with a value runs; whether it waits for the value being written is left open."""
    began = gates.tool_began("use")
    began.patience = gates.ABSENCE
    scenario.does("fetch", Returns("new", hold=began))
    scenario.plays(solution(FETCH, USE), DONE)

    run = implementation.run(tools=tools("fetch", "use"), context=[{"type": "state", "x": "old"}])

    _ran(run, ["fetch", "use"])
    given: Any = run.ran_of("use").arguments
    assert given in ({"value": "old"}, {"value": "new"})
    implementation.diverges("a path that has a value and is overwritten", f"its reader gets the {given['value']}")


SLOW = call("slow", to="†state.slow")


@requirement("loop010-no-batch-barrier")
@pytest.mark.parametrize("calls", [[FETCH, SLOW, USE], [SLOW, FETCH, USE], [USE, SLOW, FETCH]])
def test_a_result_unblocks_at_once(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]]
) -> None:
    """A call begins on the result that it waits for while an unrelated call is still running."""
    scenario.does("slow", Returns("a result", hold=gates.tool_began("use")))
    scenario.plays(solution(*calls), DONE)

    run = implementation.run(tools=tools("fetch", "slow", "use"))

    _ran(run, ["fetch", "slow", "use"])
    assert [] == run.gave_up, "the call waited for one that it does not depend on"


@requirement("loop010-no-batch-barrier")
def test_a_chain_runs_beside_a_slow_call(scenario: Scenario, implementation: Implementation) -> None:
    """Four calls, each of which needs the one before, run one after another while a fifth runs all the time."""
    links = [call(f"link{n}", {"value": f"†state.x{n}"}, to=f"†state.x{n + 1}") for n in range(1, 4)]
    scenario.does("slow", Returns("a result", hold=gates.tool_began("link3")))
    scenario.plays(solution(SLOW, call("link0", to="†state.x1"), *links), DONE)

    run = implementation.run(tools=tools("slow", *(f"link{n}" for n in range(4))))

    _ran(run, ["slow", *(f"link{n}" for n in range(4))])
    assert [] == run.gave_up, "the chain waited for a call that it does not depend on"


@requirement("loop010-calls-start-once")
def test_a_call_starts_once(scenario: Scenario, implementation: Implementation) -> None:
    """Calls are free, blocked or running while others arrive and complete; each of them runs once."""
    scenario.does("slow", Returns("a result", hold=gates.tool_began("second")))
    scenario.plays(solution(SLOW, USE, FETCH, *CHAIN[:2]), DONE)
    every = ["slow", "use", "fetch", *STEPS[:2]]

    run = implementation.run(tools=tools(*every))

    _ran_once(run, every)


@requirement("loop010-calls-start-once")
def test_a_new_value_starts_nobody_again(scenario: Scenario, implementation: Implementation) -> None:
    """The value that a call began with is overwritten while it runs, and the call does not begin again."""
    scenario.does("again", Returns("new", hold=gates.tool_began("use")))
    scenario.does("first", Returns("a result", hold=gates.tool_ended("again")))
    scenario.does("use", Returns("a result", hold=gates.tool_began("second")))
    scenario.plays(solution(FETCH, USE, call("again", to="†state.x"), *CHAIN[:2]), DONE)
    every = ["fetch", "use", "again", *STEPS[:2]]

    run = implementation.run(tools=tools(*every))

    _ran_once(run, every)


@requirement("loop010-calls-start-once")
@on("*/stream/*")
def test_a_held_stream_starts_nobody_again(scenario: Scenario, implementation: Implementation) -> None:
    """A call that began and ended before the rest of its Solution arrived does not begin again."""
    turn = solution(FETCH, USE, call("last", to="†state.last"))
    held = Hold(gates.tool_ended("use"), behind(turn, 2))
    scenario.plays(Step(turn, DEFAULT, holds=(held,)), DONE)

    run = implementation.run(tools=tools("fetch", "use", "last"))

    _ran_once(run, ["fetch", "use", "last"])


@requirement("loop010-calls-start-once")
def test_two_equal_calls(scenario: Scenario, implementation: Implementation) -> None:
    """Each of two equal calls starts at most once; whether they count as one or two is left open."""
    equal = call("use", {"value": 1}, to="†state.used")
    scenario.plays(solution(equal, equal), DONE)

    run = implementation.run(tools=tools("use"))

    run.request(2)
    times = len(run.arguments_of("use"))
    assert times in (1, 2)
    implementation.diverges("two equal calls", "run twice" if times == 2 else "run once")


CONTEXT: list[dict[str, Any]] = [{"type": "input", "input": {"city": "Paris"}}]

GRAPH = [
    FETCH,
    call("left", X, to="†state.left"),
    call("right", {"value": "†state.x", "other": "†input.city"}, to="†state.right"),
    call("join", {"value": "†state.left", "other": "†state.right"}, to="†state.joined"),
]
"""Two calls that need one result, and a call that needs the results of both."""


@requirement("loop010-call-order-carries-no-meaning")
@pytest.mark.parametrize("first", range(4), ids=lambda n: str(GRAPH[n]["_tool"]))
def test_any_order_is_the_same(scenario: Scenario, implementation: Implementation, first: int) -> None:
    """In any order of four calls, the same calls run with the same values, and the same values are stored."""
    names = _names(GRAPH)
    for name in names:
        scenario.returns(name, f"the result of {name}")

    for order in permutations(GRAPH):
        if order[0] is GRAPH[first]:
            scenario.plays(solution(*order), probe_turn("state.x", "state.left", "state.right", "state.joined"), DONE)
            run = implementation.run(tools=tools(*names), context=CONTEXT)
            _ran_as_in_any_order(run, _names(order))


def _ran_as_in_any_order(run: Run, order: Sequence[str]) -> None:
    """Assert that the graph ran as it does in any order."""
    x, left, right, joined = (f"the result of {name}" for name in ("fetch", "left", "right", "join"))
    shown = probed_values(run, 2)
    wanted = {
        "fetch": {},
        "left": {"value": x},
        "right": {"value": x, "other": "Paris"},
        "join": {"value": left, "other": right},
    }
    ran = [(tool, given) for tool, given in run.tools_ran if tool in wanted]
    assert wanted == dict(ran), f"in the order {order}"
    assert {"state.x": x, "state.left": left, "state.right": right, "state.joined": joined} == shown, (
        f"in the order {order}"
    )
