"""Loops that are correct but unusual fail nothing; loops with a fault that was once missed fail."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from looptck_reference.kit.driver import Driver
from meta.loops import faulty, right
from meta.loops.judging import against, judged

PLAIN = "openai-chat/plain/sync"
LIMITS = [
    "limit-allows-what-fits",
    "limit-is-a-ceiling",
    "limit-of-one-answers",
    "limit-of-zero-runs-no-tool",
    "limit-reached-is-told",
]


@pytest.mark.parametrize(
    ("loop", "cells", "requirements", "but"),
    [
        (right.StreamsAnyway, PLAIN, [], {"requests-ask-for-the-right-mode", "recorded-traffic-is-read-right"}),
        (
            right.AsksForNoUsage,
            "openai-chat/stream/sync",
            ["recorded-traffic-is-read-right", "framing-does-not-matter", "chunks-without-choices-are-skipped"],
            {"chunks-without-choices-are-skipped"},
        ),
        (
            right.OutputsBehindTheirCalls,
            "openai-responses/plain/sync",
            ["results-follow-their-calls", "results-keep-call-order", "calls-are-echoed"],
            (),
        ),
        (
            right.Patient,
            "*/plain/sync",
            ["http-error-is-told", "retry-never-reruns-a-tool", "retried-request-is-the-same"],
            (),
        ),
        (
            right.OneRequestAtATime,
            "openai-chat/*/sync",
            ["concurrent-runs-do-not-leak", "conversations-stay-apart", "shared-agent-runs-apart"],
            (),
        ),
        (right.CountsRounds, PLAIN, LIMITS, {"limit-of-zero-runs-no-tool"}),
        (right.FiveByDefault, PLAIN, ["loop-goes-on-until-the-model-answers", "results-carry-their-call-ids"], ()),
        (right.FiveInWords, PLAIN, ["loop-goes-on-until-the-model-answers", "results-carry-their-call-ids"], ()),
        (right.AnswersAtItsLimit, PLAIN, [*LIMITS, "endless-handoffs-end", "limit-counts-all-agents"], ()),
        (right.ZeroIsEndless, PLAIN, LIMITS, {"limit-of-zero-runs-no-tool"}),
        (right.ZeroIsDeclared, PLAIN, LIMITS, ()),
        (right.AsksForTheRest, PLAIN, ["continued-answer-is-whole", "text-before-calls-is-not-the-answer"], ()),
        (
            right.OtherWords,
            "*/stream/sync",
            ["cut-reply-is-told", "malformed-event-is-told", "refusal-is-told", "stream-without-finish-is-told"],
            (),
        ),
        (
            right.AsTheyStop,
            "anthropic-messages/stream/sync",
            ["interleaved-blocks-stay-apart", "framing-does-not-matter"],
            (),
        ),
        (right.Compacts, "anthropic-messages/*/sync", ["compacted-turn-is-resumed", "no-request-is-refused"], ()),
        (right.EmptyIsNoPart, "*/plain/sync", ["empty-result-is-answered", "no-request-is-refused"], ()),
        (
            right.RunsWhatIsWhole,
            "openai-chat/*/sync",
            ["truncated-call-never-runs", "lost-call-is-told", "no-request-is-refused"],
            (),
        ),
        (
            right.AsksForText,
            "*/sync",
            [
                "announced-calls-that-never-come-end-the-loop",
                "conversations-are-carried-right",
                "empty-answer-ends-the-loop",
                "framing-does-not-matter",
                "recorded-traffic-is-read-right",
                "text-before-calls-is-not-the-answer",
            ],
            (),
        ),
        (right.NullStaysNull, "openai-chat/*/sync", ["null-arguments-are-an-empty-object"], ()),
        (right.Together, "*/plain/*", ["results-keep-call-order", "every-call-is-answered"], ()),
        (
            right.DescribesParameters,
            "*/plain/sync",
            ["descriptions-are-offered-whole", "tools-are-offered-every-time", "parameter-descriptions-are-offered"],
            (),
        ),
        (
            right.AsksForReasons,
            "*/plain/sync",
            ["tools-are-offered-every-time", "offered-schema-is-the-declared-one", "open-schemas-are-offered"],
            (),
        ),
        (
            right.AddsItsOwn,
            "*/plain/sync",
            ["runs-do-not-leak", "tools-do-not-leak", "concurrent-runs-do-not-leak", "history-only-grows"],
            (),
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_right_loop(loop: type[Driver], cells: str, requirements: list[str], but: Collection[str]) -> None:
    """Its difference fails no requirement except those that are about this difference."""
    results = judged(loop, cells, requirements=requirements)

    assert set(but) == against(results).keys()
    assert {"pass"} <= {result.verdict for result in results}


def test_compaction_without_a_request_for_it() -> None:
    """The service would not pause, so a loop that does not request compaction has no verdict on it."""
    results = judged(Driver, "anthropic-messages/*/sync", requirements=["compacted-turn-is-resumed"])

    assert ["not-applicable"] * 2 == [result.verdict for result in results]
    assert {"the request does not ask for a pause after compaction, so the service would not pause"} == {
        result.reason for result in results
    }


def test_lost_turn_in_other_words() -> None:
    """An outcome with another stop reason also reports to the caller that a turn was lost."""
    results = judged(
        right.OtherWords,
        "anthropic-messages/stream/sync",
        profile="anthropic-loop",
        requirements=["claude-lost-turn-is-told"],
    )

    assert {"pass"} == {result.verdict for result in results}


def test_plain_replies_where_streams_are_played() -> None:
    """What a plain reply cannot say is not played to a loop that asks for one; it is no fault of the kit."""
    rows = ["lists-as-arguments-run-nothing", "bad-arguments-never-run-the-tool"]
    results = judged(right.PlainAnyway, "anthropic-messages/stream/sync", requirements=rows)

    assert {("not-applicable", "request 1 asks for a plain reply, in which the service cannot say what is played")} == {
        (result.verdict, result.reason) for result in results
    }


def test_streams_alone() -> None:
    """A loop that declares that it always streams is not asked for plain replies."""
    rows = ["call-runs-its-tool-once", "plain-and-stream-agree", "wires-agree"]
    results = judged(right.AlwaysStreams, "*", requirements=rows)

    plain = {result.verdict for result in results if "/plain/" in result.cell}
    agree = {result.verdict for result in results if result.requirement == "plain-and-stream-agree"}
    streamed = {result.verdict for result in results if "/stream/" in result.cell} - {"divergence"}
    assert ({"not-applicable"}, {"not-applicable"}) == (plain, agree)
    assert {"pass", "not-applicable"} == streamed


@pytest.mark.parametrize(
    ("loop", "cell", "requirements", "broken"),
    [
        (
            faulty.AnswersStumble,
            "anthropic-messages/stream/sync",
            ["unknown-events-are-skipped", "framing-does-not-matter"],
            {"unknown-events-are-skipped", "framing-does-not-matter"},
        ),
        (
            faulty.OneMoreInSilence,
            PLAIN,
            LIMITS,
            {"limit-is-a-ceiling", "limit-reached-is-told", "limit-of-zero-runs-no-tool"},
        ),
        (faulty.FailsAlways, PLAIN, LIMITS, {"limit-allows-what-fits", "limit-reached-is-told"}),
        (
            faulty.LeansUndeclared,
            "anthropic-messages/plain/sync",
            ["lost-memory-reruns-no-tool", "refused-memory-is-done-without"],
            {"lost-memory-reruns-no-tool"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_faulty_loop(loop: type[Driver], cell: str, requirements: list[str], broken: set[str]) -> None:
    """It fails the requirement for its fault; a check that was not reached is not a failure."""
    results = judged(loop, cell, requirements=requirements)

    assert broken == {result.requirement for result in results if result.verdict == "fail"}


def test_one_request_more_may_be_a_limit_of_rounds() -> None:
    """Where a loop asks once more than its limit, the reason names the word for a limit that counts rounds."""
    results = judged(faulty.OneMoreInSilence, PLAIN, requirements=["limit-is-a-ceiling"])
    reasons = {result.reason for result in results if result.verdict == "fail"}

    assert reasons
    assert [] == [reason for reason in reasons if not reason.endswith(' declares dialect.limit_counts "tool-rounds"')]


def test_a_limit_that_is_not_kept_is_told_before_the_end_that_never_comes() -> None:
    """A loop that has asked too often and then hangs is told by its requests, and not by its silence."""
    cases = ["endless-calls[1]", "endless-calls[7]"]
    results = judged(faulty.NoLimitAndNoEnd, PLAIN, requirements=["limit-is-a-ceiling"], cases=cases, patience=3.0)
    reasons = [result.reason for result in results if result.requirement == "limit-is-a-ceiling"]

    assert [
        "under the limit of 1 the model was asked 16 times",
        "under the limit of 7 the model was asked 16 times",
    ] == (reasons)
