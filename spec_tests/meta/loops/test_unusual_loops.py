"""No check fails a loop that is only unusual; and properties find faults without a prepared case."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.values.verdicts import AGAINST
from looptck_mutants.breaking import driver_of
from looptck_mutants.core.beside import ResponsesSaysAll
from looptck_mutants.core.results import Swapped
from looptck_mutants.core.sse import LinesOfText
from looptck_mutants.core.streams_chat import OneCallADelta
from looptck_reference.kit.driver import Driver
from meta.loops import stateful, unusual
from meta.loops.judging import judged

CELLS = ["openai-chat/stream/sync", "openai-responses/plain/sync", "anthropic-messages/stream/sync"]


@pytest.mark.parametrize(
    ("loop", "cells"),
    [
        (unusual.Unordered, CELLS),
        (unusual.BadCallsHandedBack, CELLS),
        (stateful.Stateful, ["*/sync"]),
        (unusual.InThreadsSentAgain, ["*/sync"]),
    ],
)
def test_loop_fails_nothing(loop: type[Driver], cells: list[str]) -> None:
    """Calls may run in any order, an invalid call may go back to the caller, and the service may keep the history."""
    results = judged(loop, *cells, examples=3, dealt=True)

    assert [] == [result for result in results if result.verdict in AGAINST]
    assert sum(result.verdict == "pass" for result in results) > 300


def test_whole_words_are_handed_on() -> None:
    """A loop need not hand on a word that the model has not ended."""
    requirements = ["final-text-arrives-as-it-is-written", "spec-text-is-forwarded", "chunks-join-to-the-answer"]
    results = judged(unusual.WordByWord, "openai-chat/stream/sync", requirements=requirements)

    assert {"pass"} == {result.verdict for result in results}


@pytest.mark.parametrize(
    ("loop", "verdict"), [(unusual.RemembersElsewhere, "not-applicable"), (unusual.RemembersNowhere, "not-reached")]
)
def test_memory_on_another_wire(loop: type[Driver], verdict: str) -> None:
    """A capability is declared for all wires at once, and a loop may rely on the service's memory on one of them."""
    requirements = ["lost-memory-reruns-no-tool", "refused-memory-is-done-without"]
    results = judged(loop, "anthropic-messages/plain/sync", requirements=requirements)

    assert {verdict} == {result.verdict for result in results}


def test_fractions_of_fifteen_digits() -> None:
    """No language has to write more digits of a number than any decimal number of so many keeps."""
    requirements = ["arguments-arrive-whatever-their-shape", "recorded-traffic-is-read-right"]
    results = judged(unusual.FifteenDigits, "openai-chat/plain/sync", requirements=requirements, examples=100)

    assert [] == [result for result in results if result.verdict in AGAINST]


@pytest.mark.parametrize(
    ("mutant", "requirement", "case"),
    [
        (Swapped, "conversations-are-carried-right", "any-conversation"),
        (LinesOfText, "arguments-arrive-whatever-their-shape", "any-arguments"),
        (OneCallADelta, "framing-does-not-matter", "any-framing"),
        (ResponsesSaysAll, "wires-agree", "any-conversation-agrees"),
    ],
)
def test_property_finds_fault(mutant: type[Any], requirement: str, case: str) -> None:
    """With enough examples a property finds a fault without a prepared case."""
    results = judged(
        driver_of(mutant), "openai-chat/stream/sync", requirements=[requirement], cases=[case], examples=25
    )

    assert [(requirement, "fail")] == [(result.requirement, result.verdict) for result in results]
