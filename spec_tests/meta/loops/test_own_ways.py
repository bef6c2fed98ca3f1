"""No check fails a loop that is correct but works differently."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from looptck.catalogue.requirements import catalogue
from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops import own_requests, own_values, own_ways
from meta.loops.fitting import watched
from meta.loops.judging import judged

CELLS = ["openai-chat/stream/sync", "openai-responses/plain/sync", "anthropic-messages/stream/sync"]
LOOPS = [own_ways.InAnotherLanguage, own_ways.UnderOwnNames]


@pytest.mark.parametrize("loop", LOOPS)
def test_loop_fails_nothing(loop: type[Driver]) -> None:
    """Each of the two has several ways at once. What runs fits the offered schema: a loop may validate all calls."""
    misfits: list[str] = []

    with watched(misfits) if loop is own_ways.InAnotherLanguage else nullcontext():
        results = judged(loop, *CELLS, examples=5, dealt=True)

    assert [] == misfits
    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert sum(result.verdict == "pass" for result in results) > 300


ON_ONE_WIRE = [
    (own_ways.RefersAsTheyEnd, "openai-responses/*/sync"),
    (own_ways.CallsLastAsTheyEnd, "anthropic-messages/stream/sync"),
    (own_ways.TalksAsTheyEnd, "openai-chat/plain/sync"),
]


@pytest.mark.parametrize(("loop", "cell"), ON_ONE_WIRE)
def test_loop_meets_every_must(loop: type[Driver], cell: str) -> None:
    """It may refer to stored items, put calls last, extend its prompt, and order results; it may fail a SHOULD."""
    results = judged(loop, cell, examples=3, dealt=True)
    levels = {row.id: row.level for row in catalogue()}

    against = [result for result in results if result.verdict in AGAINST and levels[result.requirement] == "MUST"]
    assert [] == [(result.requirement, result.case, result.reason) for result in against]


@pytest.mark.parametrize("cell", ["openai-responses/plain/sync", "openai-responses/stream/sync"])
def test_thoughts_are_those_of_a_reasoning_model(cell: str) -> None:
    """Cases with reasoning use the name of a reasoning model, to their last run, for loops that decide by the name."""
    rows = [
        "reasoning-is-echoed", "turn-is-echoed-in-order", "no-request-is-refused", "model-name-is-sent",
        "resumed-run-equals-an-unbroken-one",
    ]  # fmt: skip

    results = judged(own_requests.ThinksByName, cell, requirements=rows)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert set(rows) == {result.requirement for result in results if result.verdict == "pass"}


DOCUMENTS = [
    (own_values.Validating, "prompty-spec"),
    (own_values.Validating, "prompty-agent-mode"),
    (own_ways.PrefixesInAnotherLanguage, "anthropic-loop"),
]


@pytest.mark.parametrize(("loop", "profile"), DOCUMENTS)
def test_loop_keeps_to_its_document(loop: type[Driver], profile: str) -> None:
    """The same under the rules of a document that does not forbid its way."""
    cell = "anthropic-messages/stream/sync" if profile == "anthropic-loop" else "openai-chat/plain/sync"
    results = judged(loop, cell, profile=profile, examples=3)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]


def test_a_run_may_be_suspended_for_one_call_at_a_time() -> None:
    """A turn with two calls that need approval suspends the run twice; each call is decided all the same."""
    rows = [
        "suspended-call-has-not-run", "resumed-run-equals-an-unbroken-one", "resume-reruns-nothing",
        "resume-obeys-each-decision", "resumed-run-is-in-its-conversation", "suspended-state-travels",
    ]  # fmt: skip

    results = judged(own_ways.AsksOneAtATime, "openai-chat/plain/sync", requirements=rows)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert set(rows) == {result.requirement for result in results if result.verdict == "pass"}


def test_a_lone_text_is_a_message_of_the_user() -> None:
    """The two forms of a question on Responses are the same prefix."""
    results = judged(own_requests.SaysALoneText, "openai-responses/plain/sync", requirements=["prefix-is-the-same"])

    assert {"pass"} == {result.verdict for result in results}


def test_another_model_may_be_asked_at_once() -> None:
    """A service's time to wait is that of the model that it has refused."""
    rows = ["retry-after-is-kept", "retry-after-may-be-a-date"]

    results = judged(own_requests.AsksAnotherModel, "openai-chat/plain/sync", requirements=rows)

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert any("another model" in str(result.reason) for result in results)
