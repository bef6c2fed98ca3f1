"""Outcomes: a driver's report of the end of a run, and its description in words."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.drivers.protocol import complaint
from looptck.values.outcome import OVER, Failed, Outcome, Value, from_message, serializable

FULL = {"kind": "value", "text": "Hi.", "stop": "end", "output": {"a": [0]}, "usage": {"total_tokens": 3}}


@pytest.mark.parametrize(
    ("reported", "outcome", "words"),
    [
        ({"kind": "value", "text": "Hi."}, Value("Hi."), "returned 'Hi.'"),
        ({"kind": "value", "text": None, "output": 0}, Value(None, None, 0), "returned the output 0"),
        ({"kind": "value", "text": None, "output": ""}, Value(None, output=""), "returned the output ''"),
        ({"kind": "value", "text": None, "output": None}, Value(None), "returned nothing"),
        (
            {"kind": "value", "text": "Hi.", "usage": {"input_tokens": None, "not_numbers": ["input_tokens"]}},
            Value("Hi.", not_numbers=("input_tokens",)),
            "returned 'Hi.'",
        ),
        (
            FULL,
            Value("Hi.", "end", {"a": [0]}, {"total_tokens": 3}),
            "returned the output {\"a\": [0]} and the text 'Hi.', with the stop reason end",
        ),
    ],
)
def test_a_value_may_be_an_output(reported: dict[str, Any], outcome: Outcome, words: str) -> None:
    """Any JSON value except null is an output; a loop without an output returns text or nothing."""
    assert complaint("from-driver", {"type": "finished", "id": "r1", "outcome": reported}) is None
    assert (outcome, words) == (from_message(reported), str(outcome))


@pytest.mark.parametrize(
    ("member", "reported", "told"),
    [
        ("outcome", {"kind": "value", "text": "Hi.", "stop": "eos"}, '/outcome/stop: "eos" is not one of end, calls, '),
        ("outcome", {"kind": "error", "reason": "other", "type": "E"}, '/outcome: "message" is a required property'),
        ("outcome", {"kind": "valu", "text": "Hi."}, "/outcome: "),
        ("outcome", "Hi.", "/outcome: "),
        ("event", {"kind": "call", "name": 3, "call_id": "a", "arguments": {}}, "/event/name: 3 is not of type"),
    ],
)
def test_a_wrong_member_has_its_place(member: str, reported: Any, told: str) -> None:
    """An outcome or event that breaks its schema is told as one of its kind, by the member that is wrong."""
    kind = "finished" if member == "outcome" else "event"

    why = complaint("from-driver", {"type": kind, "id": "r1", member: reported}) or ""

    assert why.startswith(told)
    assert ";" not in why


def test_an_output_is_written_out() -> None:
    """The output is a member of the outcome."""
    assert FULL == serializable(Value("Hi.", "end", {"a": [0]}, {"total_tokens": 3}))


def test_an_error_is_of_the_types_that_it_extends() -> None:
    """A driver that names no bases says of its own type alone that the error is of it."""
    error = {"kind": "error", "reason": "limit", "type": "Tired", "message": "m"}
    alone, extending = from_message(error), from_message({**error, "bases": ["RuntimeError", "Exception"]})

    assert isinstance(alone, Failed)
    assert isinstance(extending, Failed)
    assert (True, False) == (alone.is_a("Tired"), alone.is_a("RuntimeError"))
    assert (True, True, False) == tuple(map(extending.is_a, ("Tired", "RuntimeError", "ValueError")))


def test_the_end_of_the_script_is_no_cause() -> None:
    """A loop that asks again when no turn is left is refused by looptck, which does not explain why it asked."""
    error = {"kind": "error", "reason": "provider", "type": "Refused", "message": f'status 400: {{"m": "{OVER} 3."}}'}

    words = "asked for more turns than the script has, and raised Refused because looptck refused request 3"
    assert f"{words} (reason: provider)" == str(from_message(error))


def test_an_error_has_no_output() -> None:
    """A run ends with either an error or an output."""
    error = {"kind": "error", "reason": "other", "type": "E", "message": "m", "output": 1}

    assert complaint("from-driver", {"type": "finished", "id": "r1", "outcome": error}) is not None
