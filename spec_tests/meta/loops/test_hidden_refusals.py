"""A loop that hides every refusal fails for that, and not for headers that change nothing for it."""

from __future__ import annotations

from looptck_mutants.core.faults import ErrorIsTheAnswer
from looptck_mutants.parts import asking
from looptck_reference.kit.driver import Driver
from meta.loops.judging import judged

ROWS = ["http-error-is-told", "odd-retry-after-is-no-error", "retry-after-may-be-a-date"]


class Hides(Driver):
    """Returns the provider's error message as the answer."""

    invoker = asking(ErrorIsTheAnswer)


def test_a_header_is_not_to_blame_where_every_refusal_is_hidden() -> None:
    """It does not try again without a Retry-After either, so no message says that it does."""
    found = {one.requirement: one.verdict for one in judged(Hides, "openai-chat/plain/sync", requirements=ROWS)}

    assert dict(zip(ROWS, ["fail", "not-applicable", "not-applicable"], strict=True)) == found
