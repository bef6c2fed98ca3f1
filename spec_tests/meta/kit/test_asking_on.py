"""A loop asks for the rest of an answer that was cut, or for another one."""

from __future__ import annotations

import pytest

from looptck.spec.asking_on import asks_for_the_rest
from looptck.values.history import Said

QUESTION = Said("user", "What is the capital of France?")
CUT = Said("assistant", "The capital of")


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ("", True),
        ("Continue.", True),
        ("Please go on where you stopped, without starting again.", True),
        ("Carry on from where you left off. Do not repeat what you have said.", True),
        ("Your answer was too long. Answer again in fewer words.", False),
        ("Do not continue. Start over with a shorter answer.", False),
        ("Give me the whole answer, in one sentence.", False),
        ("Are you sure?", False),
    ],
)
def test_words_behind_a_cut_answer(words: str, rest: bool) -> None:
    """Only words that ask for what is missing do, or none at all."""
    said = [Said("user", words)] if words else []

    assert rest == asks_for_the_rest([QUESTION, CUT, *said])


def test_a_question_alone() -> None:
    """Where the cut answer is not sent back, nothing can go on."""
    assert not asks_for_the_rest([QUESTION, Said("user", "Please continue.")])
