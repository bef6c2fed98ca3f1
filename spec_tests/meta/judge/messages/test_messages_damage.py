"""What may be at each place of a request, and by which rule all else is refused, is what was reviewed."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from looptck.wires.anthropic_messages.judge import judge
from meta.judge.damage import refused
from meta.judge.messages.bodies import USER, request
from meta.judge.messages.cases_whole import WHOLE


@pytest.mark.parametrize("body", WHOLE, ids=range(len(WHOLE)))
def test_damage_is_refused(body: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """Whatever is done to a place of a good request, the same rule refuses it."""
    assert snapshot == refused(judge, body)


def test_messages_are_limited() -> None:
    """A request has at most 100,000 messages."""
    most = [USER] * 100_000

    assert [] == judge(request(*most))
    assert ["messages-are-a-filled-list"] == [problem.rule for problem in judge(request(*most, USER))]
