"""What a language says of a call that cannot run may be what the model reads, if it says what is wrong."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops.judging import judged
from meta.loops.own_words import InWordsOfItsOwn, InWordsOfPython

ROWS = ["result-of-a-failure-is-about-it", "bad-arguments-are-told-as-such", "unknown-tool-is-not-lost"]


@pytest.mark.parametrize("loop", [InWordsOfPython, InWordsOfItsOwn])
def test_words_for_a_call_that_cannot_run(loop: type[Driver]) -> None:
    """A type of an exception is no mistake of the loop where its text names the tool, the member or the arguments.

    Words that could be about the tool are about the arguments where those for an unknown tool are others.
    """
    results = judged(loop, "openai-chat/plain/sync", requirements=ROWS)

    assert [] == [(one.requirement, one.case, one.reason) for one in results if one.verdict in AGAINST]
    assert {*ROWS} == {one.requirement for one in results if one.verdict == "pass"}
