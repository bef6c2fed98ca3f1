"""What a request adds to the one before it, for loops that change what was there."""

from __future__ import annotations

import pytest

from looptck.values.history import Item, Said
from meta.kit.test_signs import ASKED, DONE, OWN, PROMPT, RESULT, TWO, request, run


@pytest.mark.parametrize(
    ("before", "after"),
    [([OWN, PROMPT], [OWN, PROMPT]), ([OWN, PROMPT], [PROMPT]), ([PROMPT], [PROMPT]), ([PROMPT], [OWN, PROMPT])],
    ids=["kept", "lost", "none", "come"],
)
def test_lost_instructions_shift_nothing(before: list[Item], after: list[Item]) -> None:
    """A turn that is there is not read as if its first items were missing."""
    made = run(TWO, DONE, request(1, 1, *before), request(2, 3, *after, ASKED, RESULT))

    assert [ASKED, RESULT] == made.added(1)[-2:]


def test_words_for_one_request_shift_nothing() -> None:
    """A loop's own words at the end of a request, which the next one does not repeat, are none of the items before."""
    note = Said("user", "Tick 1.", "/messages/1")
    made = run(TWO, DONE, request(1, 1, PROMPT, note), request(2, 3, PROMPT, ASKED, RESULT))

    assert [ASKED, RESULT] == made.added(1)
