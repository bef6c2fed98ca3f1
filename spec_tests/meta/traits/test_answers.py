"""Traits tell loops apart: each has an answer for every loop, and not the same for all."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck.catalogue.traits import UNDECIDED, traits
from looptck.suite.summary import exit_status
from looptck_mutants.core.policies import OneAfterTheOther
from meta.kit.flawed import Pretends, Refuses
from meta.loops import published
from meta.loops.stateful import Stateful
from meta.loops.unusual import InThreadsSentAgain
from meta.strangers.agents import readings as teams
from meta.strangers.answers import chat as answering
from meta.strangers.mcp import loops as clients
from meta.traits import manners
from meta.traits.otherwise import Otherwise
from meta.traits.surveying import survey, surveyed, told

CHAT, CHAT_STREAM = "openai-chat/plain/sync", "openai-chat/stream/sync"
RESPONSES, MESSAGES = "openai-responses/plain/sync", "anthropic-messages/plain/sync"
MESSAGES_STREAM = "anthropic-messages/stream/sync"
ALL = tuple(trait.id for trait in traits())
MEMORY = ("history", "lost-memory", "refused-memory")
OF_MESSAGES = (
    "behind-the-results",
    "error-429",
    "error-500",
    "error-529",
    "unknown-stop",
    "paused-turn",
    "endless-pauses",
)
OF_STREAMS = (
    "text-of-a-tool-turn",
    "error-in-a-stream",
    "stream-without-finish",
    "usage-of-a-stream",
    "blank-piece-of-a-call",
)
OF_CONVERSATIONS = (
    "question-of-a-failed-run",
    "tools-of-a-failed-run",
    "unanswered-call-in-a-given-history",
    "changed-call",
    "reason-of-a-rejection",
    "order-of-results-on-resume",
    "reason-of-a-rejection-on-resume",
)
OF_EVENTS = ("events-of-an-unknown-tool", "events-of-a-cut-call", "ids-of-events")
OF_LIMITS = ("default-limit-reached", "limit-counts", "calls-at-the-limit", "limit-reached", "limit-of-zero")
LOOPS = [
    (None, CHAT, ALL),
    (None, CHAT_STREAM, ALL),
    (None, RESPONSES, ALL),
    (None, MESSAGES_STREAM, ALL),
    (Otherwise, CHAT, ALL),
    (OneAfterTheOther, CHAT, ("calls-of-a-turn",)),
    (manners.Loud, CHAT, ALL),
    (manners.Silent, CHAT, ("unknown-tool", "raising-tool", "broken-arguments", "chat-tokens-in-a-result")),
    (manners.Thrifty, CHAT, OF_LIMITS),
    (manners.KeepsTheLastRound, CHAT, ("rounds-kept-of-none",)),
    (manners.Trusting, CHAT_STREAM, OF_STREAMS),
    (manners.Curt, MESSAGES, OF_MESSAGES),
    (manners.Splicing, MESSAGES_STREAM, ("text-of-a-lost-attempt", "second-message-in-a-stream")),
    (manners.Forgetful, CHAT, OF_CONVERSATIONS),
    (manners.Accounting, CHAT, ("usage-of-a-conversation",)),
    (manners.TellsOtherwise, CHAT, OF_EVENTS),
    (manners.KeepsHalves, CHAT_STREAM, ("text-of-a-cancelled-run",)),
    (manners.Blames, CHAT, ("error-of-a-cancelled-run", "words-of-the-service")),
    (Stateful, RESPONSES, MEMORY),
    (published.KeepsByCallId, CHAT, ("ids-of-another-run",)),
    (manners.Reliant, RESPONSES, MEMORY),
    (answering.Early, CHAT, ("calls-beside-an-answer",)),
    (answering.Later, CHAT, ("calls-beside-an-answer",)),
    (teams.Transcript, CHAT, ("history-after-a-handoff", "agent-of-the-next-turn")),
    (teams.Added, CHAT, ("instructions-after-a-handoff",)),
    (teams.AsksOnceMore, CHAT, ("asked-after-a-handoff",)),
    (teams.LastWins, CHAT, ("two-handoffs-in-a-turn",)),
    (teams.Knows, CHAT, ("what-a-sub-agent-is-told",)),
    (teams.Remembers, CHAT, ("memory-of-a-sub-agent",)),
    (clients.Prefixed, CHAT, ("mcp-revision", "mcp-tool-names")),
    (clients.StructuredFirst, CHAT, ("mcp-double-results",)),
    (clients.AsJson, CHAT, ("mcp-double-results",)),
    (clients.Tolerant, CHAT, ("mcp-server-that-fails",)),
]
"""Loops, each with a cell and the traits by which it differs from others."""


def _answers(loop: type | None, cell: str, only: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    answers = surveyed(loop, cell, only=only)
    return {one.trait: (one.answer, one.detail) for one in answers if one.answer != "not-applicable"}


@pytest.mark.parametrize(
    ("loop", "cell", "only"), LOOPS, ids=[f"{loop.__name__ if loop else 'reference'}-{cell}" for loop, cell, _ in LOOPS]
)
def test_what_a_loop_does_is_told(
    loop: type | None, cell: str, only: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """The answers are those that reading the loop gives."""
    assert snapshot == {trait: answer for trait, (answer, _) in _answers(loop, cell, only).items()}


def test_no_trait_has_one_answer_alone() -> None:
    """Each trait has been seen to be answered in two ways at least, none of which is that it could not be decided."""
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for loop, cell, only in LOOPS:
        for trait, (answer, detail) in _answers(loop, cell, only).items():
            if answer not in UNDECIDED:
                seen[trait].add((answer, detail if traits()[trait].exact else ""))

    assert [] == [trait for trait in ALL if len(seen[trait]) < 2]


def test_reference_leaves_no_question_open() -> None:
    """Every trait is asked in every cell; what does not apply says why, and nothing else is undecided."""
    answers = surveyed(None, "*/sync")
    cells = Counter(one.trait for one in answers)
    undecided = [one for one in answers if one.answer in UNDECIDED]

    assert dict.fromkeys(ALL, 6) == cells
    assert {"not-applicable"} == {one.answer for one in undecided}
    assert all(one.detail for one in undecided)
    assert ["calls-beside-an-answer", "lost-memory", "refused-memory"] == [
        trait for trait in ALL if all(one.answer == "not-applicable" for one in answers if one.trait == trait)
    ]


def test_async_is_asked_too() -> None:
    """An async cell has the answers of its sync twin."""
    answers = surveyed(None, CHAT.replace("sync", "async"))

    assert told(surveyed(None, "*/sync"), CHAT) == told(answers, CHAT.replace("sync", "async"))


@pytest.mark.parametrize("loop", [Refuses, Pretends])
def test_loop_that_never_asks_is_not_reached(loop: type) -> None:
    """A loop that ends before it has asked the model decides nothing, and is not silent either."""
    answers = told(surveyed(loop, CHAT_STREAM), CHAT_STREAM)
    asked = {answer for answer in answers.values() if answer != "not-applicable"}

    assert set(ALL) == set(answers)
    assert answers["limit-of-zero"] == ("error-at-once" if loop is Refuses else "value-at-once")
    assert {"not-reached", answers["limit-of-zero"]} == asked


def test_rubbish_is_the_drivers_fault() -> None:
    """A driver that returns no outcome gets an answer for each trait too."""
    answers = told(surveyed(manners.Rubbish, CHAT), CHAT)

    assert set(ALL) == set(answers)
    assert {"error"} == {answer for answer in answers.values() if answer != "not-applicable"}


def test_run_without_an_end_has_no_outcome() -> None:
    """A loop that never comes back after its first tool has no outcome, and is asked on."""
    session = survey(manners.Hangs, CHAT, only=("raising-tool", "refusal", "text-result"), outcome=3.0)
    answers = {one.trait: one.answer for one in session.survey.answers}

    assert {"raising-tool": "no-outcome", "refusal": "stop-told", "text-result": "no-outcome"} == answers


def test_question_that_never_comes_to_the_model_is_the_loops_fault() -> None:
    """A loop that has asked in a conversation and hangs at its next question has no outcome there."""
    session = survey(manners.StuckLater, CHAT, only=("question-of-a-failed-run",), outcome=1.0)

    assert ["no-outcome"] == [one.answer for one in session.survey.answers]


def test_run_that_never_begins_is_the_drivers_fault() -> None:
    """A loop that hangs before it has asked the model gets an answer too."""
    session = survey(manners.Stuck, CHAT, only=("raising-tool", "refusal"), outcome=1.0)

    assert ["error", "error"] == [one.answer for one in session.survey.answers]
    assert all("no model request, and it gave no outcome" in one.detail for one in session.survey.answers)


@pytest.mark.parametrize("loop", [Refuses, manners.Rubbish, manners.Loud])
def test_traits_never_fail_a_run(loop: type) -> None:
    """Whatever the answers are, the run is clean."""
    assert 0 == exit_status(survey(loop, CHAT, only=("raising-tool", "null-result")).record)


def test_tools_that_the_service_keeps_are_on_offer() -> None:
    """A loop whose message thread keeps the tools is not taken for one that asks for an answer without them."""
    answers = surveyed(InThreadsSentAgain, MESSAGES, only=("default-limit", "limit-counts", "limit-reached"))

    assert {
        "default-limit": "finite",
        "limit-counts": "model-calls",
        "limit-reached": "error-for-the-caller",
    } == told(answers, MESSAGES)
