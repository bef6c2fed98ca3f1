"""Verdicts: what leads to which, and that nothing which did not happen is ever a pass."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis.errors import FlakyFailure

from looptck.bench.checks import Liveness
from looptck.drivers import DriverFault
from looptck.suite.verdict_of import verdict_of
from looptck.values.verdicts import (
    AGAINST,
    MEANINGS,
    WORST_FIRST,
    NotApplicable,
    NotReached,
    Result,
    Verdict,
    counted,
    worst,
)
from meta.drivers.bench import PLAIN, judged

FLAWED = "python:meta.kit.flawed:"


@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        (None, "pass", ""),
        (AssertionError("2 calls, not 1"), "fail", "2 calls, not 1"),
        (AssertionError(), "fail", "an assertion of the check failed"),
        (AssertionError("\n".join(map(str, range(99)))), "fail", "\n".join(map(str, range(12)))),
        (Liveness("liveness: it gave no outcome"), "fail", "liveness: it gave no outcome"),
        (NotReached("request 2 never came"), "not-reached", "request 2 never came"),
        (NotApplicable("no streams"), "not-applicable", "no streams"),
        (DriverFault("crashed", "exit status 1"), "error", "driver: crashed: "),
        (
            DriverFault("crashed", "exit status 1", stderr="Oh.", mend="read on"),
            "error",
            "driver: crashed: the driver ended in the middle of its work: exit status 1; read on\nits standard error",
        ),
        (KeyError("x"), "error", "looptck itself: KeyError: 'x'"),
        (asyncio.CancelledError(), "error", "looptck itself: CancelledError"),
        (pytest.fail.Exception("no"), "error", "looptck itself: Failed: no"),
        (pytest.skip.Exception("later"), "error", "looptck itself: Skipped: later"),
        (ExceptionGroup("two", [NotReached("late"), AssertionError("wrong")]), "fail", "wrong"),
        (ExceptionGroup("two", [AssertionError("wrong"), DriverFault("hung", "r1")]), "error", "driver: hung: "),
        (ExceptionGroup("deep", [ExceptionGroup("one", [NotReached("late")])]), "not-reached", "late"),
        (AssertionError("got a\u2028b"), "fail", "got a\u2028b"),
        (FlakyFailure("now and then", [AssertionError("wrong")]), "fail", "wrong"),
    ],
)
def test_what_a_check_raises_is_its_verdict(error: BaseException | None, verdict: Verdict, reason: str) -> None:
    """What a check raises decides its verdict; what it was never meant to raise is the kit's own fault."""
    got, told = verdict_of(error)

    assert verdict == got
    assert told.startswith(reason)


def result(verdict: Verdict) -> Result:
    """A result of this verdict."""
    return Result("r", "core", "MUST", PLAIN, "c", verdict)


@pytest.mark.parametrize("position", range(len(WORST_FIRST)))
def test_several_cases_are_as_bad_as_the_worst(position: int) -> None:
    """Cases together have the verdict of the worst of them; a divergence says nothing beside any other."""
    results = [result(verdict) for verdict in reversed(WORST_FIRST[position:])]

    assert WORST_FIRST[position] == worst(results)


def test_no_results_have_no_verdict() -> None:
    """Nothing is not a pass."""
    with pytest.raises(ValueError, match="no verdict"):
        worst([])


def test_every_verdict_has_its_place() -> None:
    """Each word has a meaning and a rank, and counting names every one of them."""
    assert set(MEANINGS) == set(WORST_FIRST) == set(counted([]))
    assert {"fail", "not-reached"} == AGAINST
    assert {"pass": 2, "fail": 1} == {
        verdict: count for verdict, count in counted([result("pass"), result("fail"), result("pass")]).items() if count
    }


@pytest.mark.parametrize("driver", ["Refuses", "Pretends"])
def test_a_loop_that_never_asks_passes_nothing(driver: str) -> None:
    """A driver whose runs end before a model was asked passes no check of the whole profile."""
    report = judged(FLAWED + driver, profiles=("core",), cells=("openai-chat/stream/sync",))

    assert [] == [one["case"] for one in report.json["results"] if one["verdict"] in {"pass", "error"}]
    assert ["calls-beside-the-answer"] == [
        one["case"] for one in report.json["results"] if one["verdict"] not in {"fail", "not-reached"}
    ], "only the case for loops with an answer tool does not apply"
    assert 1 == report.status


def test_a_loop_that_never_asks_is_not_judged() -> None:
    """Where no run reaches the provider, that is said once, with how the loop ended, in place of every check."""
    report = judged(FLAWED + "Refuses", profiles=("core",), preflight=True)

    assert (2, {}) == (report.status, report.json)
    assert "no model request came" in report.printed
    assert "raised ImportError" in report.printed


def test_a_loop_of_solutions_that_does_not_claim_it_is_told() -> None:
    """Whoever asks for the profile is told what the driver lacks, in place of checks that do not apply."""
    report = judged("python:meta.kit.solving:Unclaimed", profiles=("agent-loop-010",), preflight=True)

    assert (2, {}) == (report.status, report.json)
    assert 'a loop of Solutions claims it: started(…, profiles=["agent-loop-010"])' in report.printed


def test_a_first_run_that_differs_keeps_nobody_from_being_judged() -> None:
    """A loop that reaches the provider in its second run is judged."""
    report = judged(
        "python:meta.drivers.in_process_drivers:WrongOnce",
        "call-runs-its-tool-once",
        cases=("one-call",),
        preflight=True,
    )

    assert (0, {"one-call": "pass"}) == (report.status, report.verdicts)


@pytest.mark.parametrize(
    ("requirement", "cell"),
    [
        ("spec-binding-overrides-the-model", PLAIN),
        ("claude-pruning-leaves-no-orphan", "anthropic-messages/plain/sync"),
        ("claude-mcp-servers-are-named", "anthropic-messages/plain/sync"),
    ],
)
def test_what_is_declared_is_judged_without_its_document(requirement: str, cell: str) -> None:
    """Bindings, pruning and MCP servers are judged where they are declared, whatever document is claimed."""
    report = judged(FLAWED + "BindsAndPrunes", requirement, cells=(cell,))

    assert (0, {"pass"}) == (report.status, set(report.verdicts.values()))


def test_what_is_declared_fails_without_its_document() -> None:
    """A loop that declares bindings and applies none fails, though it claims no document."""
    report = judged(FLAWED + "BindsNothing", "spec-binding-overrides-the-model")

    assert (1, {"fail"}) == (report.status, set(report.verdicts.values()))


def test_what_was_not_reached_is_said() -> None:
    """A verdict that was not reached says which event never came, and how the loop ended instead."""
    report = judged(FLAWED + "Refuses", "call-runs-its-tool-once", cases=("one-call",))

    assert (1, {"one-call": "not-reached"}) == (report.status, report.verdicts)
    assert "raised ImportError" in report.reason("one-call")


@pytest.mark.parametrize(
    ("requirement", "cell", "capability"),
    [
        ("calls-are-echoed", "openai-chat/stream/sync", "stream"),
        ("limit-is-a-ceiling", PLAIN, "limit"),
        ("concurrent-runs-do-not-leak", PLAIN, "concurrent"),
    ],
)
def test_what_needs_a_capability_is_not_applicable_without_it(requirement: str, cell: str, capability: str) -> None:
    """A check that needs what the driver declares absent is not run, does not count, and says what is absent.

    Where there is no other, nothing was judged.
    """
    report = judged(FLAWED + "CannotStream", requirement, cells=(cell,))

    assert (2, {"not-applicable"}) == (report.status, set(report.verdicts.values()))
    told = {result["reason"] for result in report.json["results"]}
    assert {f"the driver declares no capability `{capability}`"} == told
    assert f"not apply: no capability `{capability}` (1)" in report.printed


@pytest.mark.parametrize(
    "chosen",
    [
        {"cases": ("no-such-case",)},
        {"cells": ("*/carrier-pigeon/*",)},
        {"cells": (PLAIN,), "requirements": ("cr-line-ends-are-read",)},
    ],
)
def test_an_empty_selection_is_no_success(chosen: dict[str, Any]) -> None:
    """A selection in which nothing is left ends with exit status 2, not with a clean one."""
    report = judged(None, *chosen.pop("requirements", ()), **chosen)

    assert 2 == report.status
    assert {} == report.counts
    assert "nothing was selected" in report.printed


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"requirements": ("call-runs-its-tool-onze",)}, "did you mean call-runs-its-tool-once"),
        ({"profiles": ("kore",)}, "there is no profile 'kore'; did you mean core?"),
    ],
)
def test_a_selection_of_what_does_not_exist_is_refused(chosen: dict[str, Any], told: str) -> None:
    """A requirement or profile that there is not ends the run at once, with the nearest that there are."""
    report = judged(None, *chosen.pop("requirements", ()), **chosen)

    assert (2, {}) == (report.status, report.json)
    assert told in report.printed
