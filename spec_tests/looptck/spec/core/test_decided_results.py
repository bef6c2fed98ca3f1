"""Results of a turn about which is decided: one call is rejected, or waits beside one that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.oracle import Ran
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk, suspended
from looptck.provider.confirmation import Approve, Decision, Reject
from looptck.spec.conversing import accepted
from looptck.spec.messages import share_one_message
from looptck.spec.resuming import NO, TOOLS, approved, decided, resumed, stop
from looptck.spec.unrunnable import UNRUNNABLE
from looptck.values.frozen import dataclass
from looptck.values.history import holds, spelled
from looptck.values.jsontext import canonical
from looptck.values.outcome import Suspended
from looptck.values.plain import amount
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

TURN = calls(
    Call.of("note", {"text": "first"}),
    Call.of("weather", {"city": "Paris"}),
    Call.of("note", {"text": "second"}),
    Call.of("add", {"a": 1, "b": 2}),
)
"""A turn with two calls that need approval, of which the first is rejected, and two that need none."""
DONE = says("So be it.")
RETURNED = {"note": "kept as number 7", "weather": "clear over Paris", "add": "that makes three"}
ways = pytest.mark.parametrize("way", ["confirm", "suspend"])


@dataclass(frozen=True, slots=True)
class Decided:
    """The request ``n`` of a run, with the results of the turn, and the tools that have run until then."""

    run: Run
    n: int
    ran: Sequence[Ran]


def _played(scenario: Scenario, implementation: Implementation, way: str) -> Decided:
    """The turn is played, and decided about. NotApplicable: the loop ends its run with the rejection."""
    implementation.needs(way)
    for tool, text in RETURNED.items():
        scenario.returns(tool, text)
    parts = [_asked(scenario, implementation)] if way == "confirm" else _resumed(scenario, implementation)
    run = parts[-1]
    n = 2 if way == "confirm" else 1
    if run.ended and len(run.requests) < n:
        raise NotApplicable("the loop ends the run with a rejection")
    run.request(n)
    return Decided(run, n, [one for part in parts for one in part.ran])


def _asked(scenario: Scenario, implementation: Implementation) -> Run:
    def decide(call: Mapping[str, Any]) -> Decision:
        return Approve() if "second" in str(call.get("arguments")) else Reject(NO)

    scenario.plays(TURN, DONE)
    scenario.decides_by = decide
    run = implementation.run(tools=TOOLS, confirms=True)
    if not run.questions:
        raise NotReached(f"no confirmation was asked for, and the loop {run.outcome}")
    return run


def _resumed(scenario: Scenario, implementation: Implementation) -> list[Run]:
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, [TURN, DONE])
    scenario.plays(*left)
    return resumed(talk, first, lambda part: decided(part, "second"))


@requirement("results-carry-their-call-ids")
@ways
def test_ids(scenario: Scenario, implementation: Implementation, way: str) -> None:
    """Each result is that of the call whose id it has. A loop may have other names for its tools, and other ids."""
    found = _played(scenario, implementation, way)

    request = found.run.request(found.n).request
    compared = 0
    for call in request.asked:
        texts = [one.answer["value"] for one in found.ran if one.answer and _is_of(one, call.arguments)]
        for result in request.answers:
            if result.id == call.id and texts:
                compared += 1
                assert holds(result.text, texts[0]), (
                    f"{call.tool}({call.arguments}) has returned {texts[0]!r}, and the result with the id of this call "
                    f"is {result.text!r}"
                )
    if not compared:
        raise NotReached("no call that ran has a result in the request after the decisions")


def _is_of(ran: Ran, arguments: str) -> bool:
    return canonical(ran.arguments) == spelled(arguments)


@requirement("results-share-one-message")
@ways
def test_one_message(scenario: Scenario, implementation: Implementation, way: str) -> None:
    """The result of the rejected call is in one message with the others."""
    found = _played(scenario, implementation, way)

    share_one_message(found.run, found.n)


@requirement("rejection-reason-reaches-the-model")
@ways
def test_reason(scenario: Scenario, implementation: Implementation, way: str) -> None:
    """The result of the rejected call has what its user has said about it."""
    found = _played(scenario, implementation, way)

    request = found.run.request(found.n).request
    rejected = [one.id for one in request.asked if "first" in str(one.arguments)]
    texts = [one.text for one in request.answers if one.id in rejected]
    if not texts:
        raise NotReached("the rejected call has no result in the request after the decisions")
    assert holds(texts[0], NO), (
        f"the user has rejected note(first) with the words {NO!r}, and the model reads {texts[0]!r} as its result; "
        f"if no reason can be given for a rejection, declare dialect.rejections"
    )


@requirement("resume-obeys-each-decision")
@pytest.mark.parametrize(
    "sibling",
    [
        *UNRUNNABLE,
        pytest.param(Call.of("weather", {"city": "Paris"}), id="raising"),
    ],
)
def test_beside_a_call_that_fails(scenario: Scenario, implementation: Implementation, sibling: Call) -> None:
    """One call waits and is approved; the one before it cannot run, or its tool raises: each has a result."""
    talk = Talk(implementation, named=False)
    scenario.raises("weather", "no such place")
    scenario.plays(calls(sibling, Call.of("note", {"text": "first"})), DONE)
    first = talk.run("Go.", tools=TOOLS)
    first.delivered(1)
    if len(first.requests) > 1:
        raise NotApplicable("the loop asks the model about the call that failed before it asks for a decision")
    if not isinstance(first.outcome, Suspended) and not first.arguments_of("note"):
        raise NotApplicable(f"the loop ends the run with a call that has failed: it {first.outcome}")
    suspended(first)
    scenario.plays(DONE)

    *_, run = resumed(talk, first, approved)

    if run.failed and not run.requests:
        raise NotApplicable(f"the loop ends the run with a call that has failed: it {run.outcome}")
    accepted(run.request(1))
    request = run.request(1).request
    if not first.arguments_of(sibling.tool) and sibling.tool not in {one.tool for one in request.asked}:
        raise NotApplicable(f"the loop leaves out the call of {sibling.tool}, which other requirements judge")
    carried, answered = amount(len(request.asked), "call"), amount(len(request.answers), "result")
    assert 2 == len(request.answers), f"of a turn with 2 calls the request carries {carried} and {answered}"
