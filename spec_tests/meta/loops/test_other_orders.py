"""What no document forbids fails no check: where results stand, what is referred to, and which tools a loop takes."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST, Result
from looptck_reference.kit.driver import Driver
from meta.loops import other_orders
from meta.loops.judging import judged

MEMORY = ["lost-memory-reruns-no-tool", "refused-memory-is-done-without"]
ORDERED = [
    "turn-is-echoed-in-order", "results-keep-call-order", "results-follow-their-calls", "every-call-is-answered",
    "reasoning-is-echoed", "conversations-are-carried-right",
]  # fmt: skip
PLAYED = [
    "bytes-may-be-cut-anywhere", "unknown-fields-are-ignored", "runs-do-not-leak", "conversations-are-carried-right",
    "framing-does-not-matter", "fragmented-arguments-are-joined", "usage-may-be-missing",
]  # fmt: skip


def _against(results: list[Result]) -> list[tuple[str, str, str | None]]:
    return [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]


def test_a_result_may_stand_behind_its_call() -> None:
    """The input of Responses is a list of items; those of the turn keep their order among themselves."""
    results = judged(other_orders.AnswersBesideCalls, "openai-responses/plain/sync", requirements=ORDERED)

    assert [] == _against(results)
    assert {*ORDERED} == {result.requirement for result in results if result.verdict == "pass"}


def test_reasoning_alone_may_be_referred_to() -> None:
    """A loop that relies on the service for reasoning alone is judged in turns that have some."""
    results = judged(other_orders.LeavesThoughtsThere, "openai-responses/plain/sync", requirements=MEMORY)

    assert {"pass"} == {result.verdict for result in results if result.verdict != "divergence"}


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_a_loop_may_take_flat_tools_alone(wire: str) -> None:
    """What is about bytes, fields, runs or histories is judged by the tools that the loop takes."""
    loop: type[Driver] = other_orders.TakesFlatTools

    results = judged(loop, f"{wire}/stream/sync", requirements=PLAYED)

    assert [] == _against(results)
    assert {*PLAYED} >= {result.requirement for result in results if result.verdict == "pass"} >= {*PLAYED[:5]}
