"""Loops may have policies of their own for failures, cut answers and what the service keeps."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from looptck_reference.kit.driver import Driver
from meta.loops import own_policies
from meta.loops.judging import against, judged

PLAIN = "openai-chat/plain/sync"
CONTROL = "call-runs-its-tool-once"
CHOICES = ["forced-choice-is-for-one-round", "forced-choice-ends", "choice-reaches-the-service"]
CUT = ["continued-answer-is-whole", "truncated-answer-is-told", "told-stop-reason-fits"]
SCHEMAS = ["schemas-keep-their-meaning", "odd-schemas-keep-their-meaning", "open-schemas-are-offered"]
CALLED = ["keys-that-objects-inherit-are-kept", "arguments-are-echoed-as-given"]
SEALED = "encrypted-reasoning-is-asked-for"
REASONING = [
    "reasoning-is-echoed",
    "readable-reasoning-is-echoed",
    "turn-is-echoed-in-order",
    "next-turn-is-accepted",
    "framing-does-not-matter",
    SEALED,
]


@pytest.mark.parametrize(
    ("loop", "cell", "requirements", "but"),
    [
        (own_policies.SwitchesOff, "*/plain/sync", ["tools-are-offered-every-time"], ()),
        (own_policies.SwitchesOffTheOthers, PLAIN, ["tools-are-offered-every-time"], {"tools-are-offered-every-time"}),
        (own_policies.AsksAnew, "openai-*/plain/sync", CUT, ()),
        (own_policies.AsksToGoOn, PLAIN, CUT, {"continued-answer-is-whole"}),
        (own_policies.OneWordForLimits, "*/plain/sync", CUT, ()),
        (own_policies.ThreeTries, PLAIN, ["refused-request-is-not-repeated", "http-error-is-told"], ()),
        (own_policies.AsksForTheCalls, "*/sync", ["announced-calls-that-never-come-end-the-loop"], ()),
        (own_policies.SaysMoreBehindTheQuestion, PLAIN, ["prefix-is-the-same"], ()),
        (own_policies.ForcedTwice, PLAIN, CHOICES, ()),
        (own_policies.FunctionsAlone, PLAIN, SCHEMAS, ()),
        (own_policies.FunctionsOnceLost, PLAIN, CALLED, ()),
        (own_policies.FunctionsLostUnsaid, PLAIN, CALLED, {*CALLED}),
        (own_policies.FunctionsUndeclared, PLAIN, SCHEMAS, {*SCHEMAS}),
        (
            own_policies.AsksForNoReasoning,
            "openai-responses/*/sync",
            ["reasoning-is-echoed", "no-request-is-refused", "next-turn-is-accepted", SEALED],
            {SEALED},
        ),
        (own_policies.SendsNoNulls, "*/plain/sync", ["hosted-kinds-are-echoed", "turn-is-echoed-in-order"], ()),
        (own_policies.ForModelsWithoutReasoning, "openai-responses/*/sync", REASONING, ()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_policy(loop: type[Driver], cell: str, requirements: list[str], but: Collection[str]) -> None:
    """It fails no requirement except those that are about it, and an ordinary call runs."""
    results = judged(loop, cell, requirements=[CONTROL, *requirements])

    assert set(but) == against(results).keys()
    assert "pass" in {result.verdict for result in results if result.requirement == CONTROL}
