"""What published packages do on purpose fails nothing, unless a document forbids it."""

from __future__ import annotations

import pytest

from looptck.bench.joined_rounds import WORD
from looptck_reference.kit.driver import Driver
from meta.loops import published
from meta.loops.judging import against, judged

SEVERAL = [
    "every-call-of-a-turn-runs",
    "equal-calls-run-again",
    "calls-in-one-delta-all-run",
    "results-keep-call-order",
    "calls-are-echoed",
    "no-request-is-refused",
]
ROUNDS = [
    "conversations-are-carried-right",
    "loop-goes-on-until-the-model-answers",
    "recorded-traffic-is-read-right",
]
BEFORE_CALLS = "text-before-calls-is-not-the-answer"


@pytest.mark.parametrize(
    ("loop", "cell", "requirements"),
    [
        (published.SaysThatItIsTooLong, "*/plain/sync", ["http-error-is-told"]),
        (
            published.KeepsByCallId,
            "openai-responses/plain/*",
            ["conversations-stay-apart", "concurrent-runs-do-not-leak", "runs-do-not-leak"],
        ),
        (published.NamesTheReason, "openai-chat/plain/sync", ["unknown-finish-reason-is-read"]),
        (published.OneAtATime, "openai-chat/*/sync", [*SEVERAL, "conversations-are-carried-right"]),
        (published.OneAtATime, "anthropic-messages/*/sync", [*SEVERAL, "conversations-are-carried-right"]),
        (published.Joins, "*/*/sync", [*ROUNDS, "chunks-join-to-the-answer", "missing-sequence-is-tolerated"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_manner(loop: type[Driver], cell: str, requirements: list[str]) -> None:
    """It fails nothing."""
    results = judged(loop, cell, requirements=requirements)

    assert {} == against(results)
    assert "pass" in {result.verdict for result in results}


def test_calls_that_are_cut_alike_are_two() -> None:
    """In several runs of a conversation a call is cut, and runs with empty arguments: each of them runs once."""
    results = judged(
        published.RunsCutCalls, "anthropic-messages/plain/sync", requirements=["any-conversation-goes-on"], examples=25
    )

    assert ["pass"] == [result.verdict for result in results]


def test_several_calls_where_one_is_allowed() -> None:
    """The check is not applicable, and says what the request forbids."""
    cells = {"openai-chat/plain/sync": "parallel_tool_calls: false", "anthropic-messages/plain/sync": "tool_choice."}
    results = judged(published.OneAtATime, *cells, requirements=["every-call-of-a-turn-runs"], cases=["parallel-calls"])

    assert ["not-applicable"] * 2 == [result.verdict for result in results]
    for result in results:
        assert f"request 1 says {cells[result.cell]}" in result.reason


def test_rounds_are_joined_on_purpose() -> None:
    """The row that forbids it is not applicable, because the driver declares the choice."""
    results = judged(published.Joins, "openai-chat/plain/sync", requirements=[BEFORE_CALLS])

    assert {'the driver declares dialect.answer_text "all-rounds"'} == {one.reason for one in results}


def test_rounds_are_joined_in_silence() -> None:
    """A loop whose driver does not declare it fails, and is told how to."""
    found = against(judged(published.JoinsInSilence, "openai-chat/plain/sync", requirements=[*ROUNDS, BEFORE_CALLS]))

    assert {*ROUNDS, BEFORE_CALLS} == set(found)
    assert all(WORD in reason for row, reason in found.items() if row != BEFORE_CALLS)


def test_lost_answer_behind_the_rounds() -> None:
    """The declared choice excuses no loop that loses the answer itself."""
    results = judged(published.JoinsAndLosesTheAnswer, "openai-chat/plain/sync", requirements=ROUNDS)

    assert "loop-goes-on-until-the-model-answers" in against(results)
