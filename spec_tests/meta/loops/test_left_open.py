"""Loops that are right in what documents leave open fail nothing, in whatever way they end or go on."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops import left_open, own_ids, own_requests, own_values, right
from meta.loops.judging import judged

WITHOUT_A_FUNCTION = ["every-call-is-answered", "no-request-is-refused"]
PRUNING = [
    "claude-pruning-keeps-the-latest-rounds",
    "claude-pruning-drops-older-rounds",
    "claude-pruning-beyond-the-rounds-drops-none",
]
PLAIN = "*/plain/sync"
BEHIND_A_TURN = ["conversations-are-carried-right", "results-follow-their-calls", "recorded-traffic-is-read-right"]
BESIDE_A_FAILURE = ["failing-call-leaves-the-others-whole", "failed-results-are-marked", "every-call-is-answered"]
SAME_AGAIN = [
    "plain-and-stream-agree",
    "framing-does-not-matter",
    "retried-request-is-the-same",
    "empty-answer-ends-the-loop",
]


@pytest.mark.parametrize(
    ("loop", "cells", "requirements"),
    [
        (left_open.HandsOverWhatItCannotRun, PLAIN, WITHOUT_A_FUNCTION),
        (left_open.RaisesWhatItCannotRun, PLAIN, WITHOUT_A_FUNCTION),
        (left_open.LooksAtWholeTurns, PLAIN, ["failing-call-leaves-the-others-whole", "every-call-is-answered"]),
        (left_open.WantsAFunctionForEach, PLAIN, ["every-call-is-answered"]),
        (left_open.AsksAgain, "*/stream/sync", ["repeated-answer-is-the-whole-one", "cut-reply-is-told"]),
        (left_open.AsksForWhatIsMissing, "*/stream/sync", ["repeated-answer-is-the-whole-one", "cut-reply-is-told"]),
        (
            left_open.ForgetsWhatWasCancelled,
            PLAIN,
            ["results-before-a-cancel-stay", "next-turn-after-a-cancel-is-accepted"],
        ),
        (left_open.Repairs, PLAIN, ["similar-name-runs-no-tool", "calls-run-the-tool-they-name"]),
        (left_open.GuardsAgainstRepetitions, PLAIN, ["equal-calls-run-again", "call-runs-its-tool-once"]),
        (left_open.SkipsBehindFailures, "anthropic-messages/plain/sync", BESIDE_A_FAILURE),
        (
            left_open.SaysNoAlone,
            PLAIN,
            ["rejected-call-is-answered", "rejected-call-never-runs", "results-share-one-message"],
        ),
        (
            left_open.HandsOnParagraphs,
            "*/stream/sync",
            ["final-text-arrives-as-it-is-written", "chunks-join-to-the-answer"],
        ),
        (left_open.Reminds, PLAIN, ["history-only-grows", "prefix-is-the-same", "thinking-is-echoed"]),
        (left_open.CountsInItsInstructions, "openai-chat/plain/sync", ["history-only-grows"]),
        (left_open.TellsTheTime, "openai-chat/stream/sync", SAME_AGAIN),
        (left_open.TimesItsResults, PLAIN, ["resumed-run-equals-an-unbroken-one", "suspended-state-travels"]),
        (left_open.GivesUpAfterFive, PLAIN, ["loop-goes-on-until-the-model-answers", "limit-reached-is-told"]),
        (left_open.SendsCallsFirst, "openai-responses/*/sync", BEHIND_A_TURN),
        (left_open.Notes, "anthropic-messages/plain/sync", ["history-only-grows", "prefix-is-the-same"]),
        (right.CountsRounds, PLAIN, ["limit-allows-what-fits"]),
        (own_requests.AsksForATitle, "openai-chat/plain/sync", ["handoff-is-offered", "target-of-a-handoff-answers"]),
        (own_ids.Renaming, "openai-chat/*/sync", ["ids-may-come-again"]),
        (own_values.WrapsResults, "openai-chat/*/sync", ["ids-may-come-again", "results-before-a-cancel-stay"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_fails_nothing(loop: type[Driver], cells: str, requirements: list[str]) -> None:
    """Its choice fails none of the requirements that could take it for a fault."""
    results = judged(loop, cells, requirements=requirements)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert {"pass"} <= {result.verdict for result in results}


@pytest.mark.parametrize(
    ("loop", "requirement"),
    [
        (left_open.Repairs, "similar-name-runs-no-tool"),
        (left_open.GuardsAgainstRepetitions, "equal-calls-run-again"),
        (left_open.SaysNoAlone, "rejection-reason-reaches-the-model"),
        (right.ZeroIsDeclared, "limit-of-zero-runs-no-tool"),
    ],
)
def test_declared_choices_are_not_judged(loop: type[Driver], requirement: str) -> None:
    """What a loop declares to do on purpose has no verdict."""
    results = judged(loop, "openai-chat/plain/sync", requirements=[requirement])

    assert {"not-applicable"} == {result.verdict for result in results if result.requirement == requirement}


def test_text_behind_results_is_not_part_of_pruning() -> None:
    """A loop that puts a text behind its results, which is only advised against, prunes as well as any other."""
    cell, driver = "anthropic-messages/plain/sync", left_open.SaysMoreBehindResults
    results = judged(driver, cell, profile="anthropic-loop", requirements=PRUNING, examples=3)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert {*PRUNING} == {result.requirement for result in results if result.verdict == "pass"}


def test_pruning_by_default_is_no_loss() -> None:
    """A turn goes back before its results, whatever the loop no longer sends of the rounds before."""
    rows = [*PRUNING, "claude-turn-precedes-its-results", "claude-history-only-grows"]
    cell, driver = "anthropic-messages/plain/sync", left_open.PrunesByDefault
    results = judged(driver, cell, profile="anthropic-loop", requirements=rows)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]


def test_a_reminder_is_no_part_of_the_history() -> None:
    """Words for one request alone are none of the messages with which the next one has to begin."""
    cell = "anthropic-messages/plain/sync"
    rows = ["claude-history-only-grows", "claude-pruning-beyond-the-rounds-drops-none"]
    results = judged(left_open.Reminds, cell, profile="anthropic-loop", requirements=rows)

    assert {(row, "pass") for row in rows} == {(result.requirement, result.verdict) for result in results}
