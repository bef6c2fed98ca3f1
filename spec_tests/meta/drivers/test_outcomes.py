"""Outcomes: what drivers report of the end of a run, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.drivers.protocol import complaint
from looptck.values.outcome import Outcome, Value, from_message, serializable

FULL = {"kind": "value", "text": "Hi.", "stop": "end", "output": {"a": [0]}}


@pytest.mark.parametrize(
    ("told", "outcome", "words"),
    [
        ({"kind": "value", "text": "Hi."}, Value("Hi."), "returned 'Hi.'"),
        ({"kind": "value", "text": None, "output": 0}, Value(None, None, 0), "returned the output 0"),
        ({"kind": "value", "text": None, "output": ""}, Value(None, output=""), "returned the output ''"),
        ({"kind": "value", "text": None, "output": None}, Value(None), "returned nothing"),
        (
            FULL,
            Value("Hi.", "end", {"a": [0]}),
            "returned the output {\"a\": [0]} and the text 'Hi.', with the stop reason end",
        ),
    ],
)
def test_a_value_may_be_an_output(told: dict[str, Any], outcome: Outcome, words: str) -> None:
    """Any JSON but null is an output; a loop without one returns text or nothing."""
    assert complaint("from-driver", {"type": "finished", "id": "r1", "outcome": told}) is None
    assert (outcome, words) == (from_message(told), str(outcome))


def test_an_output_is_written_out() -> None:
    """As a member of the outcome."""
    assert FULL == serializable(Value("Hi.", "end", {"a": [0]}))


def test_an_error_has_no_output() -> None:
    """A run ends in one or the other."""
    error = {"kind": "error", "reason": "other", "type": "E", "message": "m", "output": 1}

    assert complaint("from-driver", {"type": "finished", "id": "r1", "outcome": error}) is not None
