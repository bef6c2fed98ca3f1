"""Rows of which a sentence can be read in several ways: each right reading passes."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_mutants.parts import speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatWire
from meta.loops import instructing, own_ways, stateful
from meta.loops.judging import judged

CELLS = ["openai-chat/plain/sync", "openai-responses/plain/sync", "anthropic-messages/plain/sync"]
LATER = "later-system-message-reaches-the-model"
PROMPT = "prompt-reaches-the-model"


@pytest.mark.parametrize(
    ("loop", "verdict"),
    [
        (instructing.Joins, "pass"),
        (instructing.LetsTheUserSay, "pass"),
        (instructing.Refuses, "not-applicable"),
        (instructing.Forgets, "fail"),
    ],
)
def test_later_instructions_have_several_places(loop: type[Driver], verdict: str) -> None:
    """A loop joins them with the first, has them said by the user, or refuses them; it never forgets them."""
    results = judged(loop, *CELLS, requirements=[LATER, PROMPT])

    assert [verdict] * 3 == [one.verdict for one in results if one.requirement == LATER]
    assert {"pass"} == {one.verdict for one in results if one.requirement == PROMPT}


class NullReasoning(Driver):
    """Sends every member of its message back, those without a value too."""

    class wire(ChatWire):  # noqa: N801
        """Has a member for reasoning."""

        def echo(self, turn: Turn) -> list[Json]:
            return [{"reasoning_content": None, **message} for message in super().echo(turn)]

    wires = speaking(chat=wire())


def test_null_is_no_reasoning() -> None:
    """A member that is null adds nothing to a turn."""
    results = judged(NullReasoning, "openai-chat/plain/sync", requirements=["no-reasoning-is-added"])

    assert ["pass"] == [one.verdict for one in results]


@pytest.mark.parametrize("loop", [stateful.Stateful, own_ways.RefersAsTheyEnd])
def test_a_service_may_know_the_reasoning(loop: type[Driver]) -> None:
    """Reasoning that is named by its id, or by that of its reply, has not to be sent."""
    results = judged(loop, "openai-responses/*/sync", requirements=["readable-reasoning-is-echoed"])

    assert results
    assert [] == [one for one in results if one.verdict in AGAINST]
