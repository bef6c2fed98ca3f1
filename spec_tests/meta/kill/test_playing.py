"""Plans and playing: the same checks with the same verdicts as under pytest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from looptck.bench.bench import Patience
from looptck.commands.kill.plan import cases_of, plan, sample
from looptck.commands.kill.playing import play
from looptck.commands.pytest_run import run_pytest
from looptck.drivers import REFERENCE
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from meta.kit.flawed import TakesCallsForAnswers

SELECTION = Selection(("core",), ("call-runs-its-tool-once", "plain-and-stream-agree"), ("openai-chat/*/sync",))
FLAWED = f"python:{TakesCallsForAnswers.__module__}:{TakesCallsForAnswers.__name__}"


def begin(driver: str, selection: Selection = SELECTION) -> Session:
    """A session of few checks."""
    return Session.begin(Options(driver, selection, patience=Patience(20.0, 3.0), examples=2))


@pytest.mark.parametrize("driver", [REFERENCE, FLAWED])
def test_verdicts_are_those_of_the_suite(driver: str) -> None:
    """A check comes to the same verdict for the same reason, whether pytest runs it or a plan is played."""
    suite = begin(driver)
    run_pytest(suite)
    planned = begin(REFERENCE)
    played = [one.result for one in play(planned, driver, plan(planned))]

    judged = [result for result in suite.record.results if result.verdict != "divergence"]
    assert {(one.requirement, one.cell, one.case): one for one in judged} == {
        (one.requirement, one.cell, one.case): one for one in played
    }


def test_place_of_a_failure_is_known() -> None:
    """It leads from the check to the assertion, through the suite alone; what passed has none."""
    session = begin(FLAWED)
    played = [*play(session, FLAWED, plan(session))]
    failures = [one for one in played if one.result.verdict == "fail"]

    assert failures
    assert all(re.fullmatch(r"test_\w+:\d+( \w+:\d+)*", one.place) for one in failures)
    assert {""} == {one.place for one in played if one.result.verdict != "fail"}


def test_a_requirement_that_has_failed_need_not_be_played_further() -> None:
    """Its later checks are left out, and no check of another requirement."""
    session = begin(FLAWED)
    planned = plan(session)
    every = [one.result for one in play(session, FLAWED, planned)]
    played = [one.result for one in play(session, FLAWED, planned, whole=False)]

    failed = {one.requirement for one in every if one.verdict == "fail"}
    assert len(failed) == len([one for one in played if one.verdict == "fail"]) < len(every) - len(played)
    assert [one for one in every if one.requirement not in failed] == [
        one for one in played if one.requirement not in failed
    ]


def test_play_can_be_left() -> None:
    """Verdicts come as they are asked for: who has seen enough stops the implementation."""
    session = begin(REFERENCE)
    playing = play(session, REFERENCE, plan(session))

    assert "pass" == next(playing).result.verdict
    playing.close()


def test_nothing_is_no_plan() -> None:
    """A selection that no check fits cannot be played."""
    with pytest.raises(CouldNotRun, match="nothing was selected"):
        plan(begin(REFERENCE, Selection(("core",), cells=("carrier-pigeon/*",))))


def test_cases_are_those_of_the_plan() -> None:
    """Each case stands once under its requirement, though it is checked in two cells."""
    planned = plan(begin(REFERENCE))
    found = cases_of(planned)

    assert {one.check.requirement.id for one in planned} == {*found}
    for id, cases in found.items():
        assert len(cases) == len({*cases})
        assert {*cases} == {one.check.case for one in planned if one.check.requirement.id == id}


def test_quick_plan_spares_what_is_not_named() -> None:
    """All checks of what a mutant names; of each other requirement the first and the last in each cell."""
    planned = plan(begin(REFERENCE))
    kept = sample(planned, {"plain-and-stream-agree"})

    checks: dict[tuple[str, str], list[int]] = {}
    for one in planned:
        checks.setdefault((one.check.requirement.id, str(one.check.cell)), []).append(one.number)
    many = checks["call-runs-its-tool-once", "openai-chat/plain/sync"]
    assert len(many) > 2
    left = {number for (id, _), all_of in checks.items() if id != "plain-and-stream-agree" for number in all_of[1:-1]}
    assert [one.number for one in planned if one.number not in left] == [one.number for one in kept]


def test_quick_plan_spares_what_takes_long() -> None:
    """A lengthy check is played to those mutants only that name its requirement."""
    planned = [replace(one, lengthy=True) for one in plan(begin(REFERENCE))]

    kept = {one.check.requirement.id for one in sample(planned, {"plain-and-stream-agree"})}
    assert {"plain-and-stream-agree"} == kept
