"""JSON values: one text for all that are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.values.jsontext import canonical, compact
from looptck.values.structured import begins_as_error, left_out

SAME: list[tuple[Any, Any]] = [
    (200, 2e2),
    (1, 1.0),
    (0, -0.0),
    (3.602879701896397e16, 36028797018963970),
    (2**53, 2**53 + 1),
    ({"a": [1, {"b": 2.0}], "c": None}, {"c": None, "a": [1.0, {"b": 2}]}),
    (10**400, float("inf")),
]
OTHER: list[tuple[Any, Any]] = [
    (1, True),
    (0, False),
    (1, "1"),
    ("1", "1.0"),
    (None, 0),
    ([], {}),
    ([1, 2], [2, 1]),
    ({"a": None}, {}),
    (0.1, 0.1000000000000001),
    (2**53 - 1, 2**53),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_values_that_are_the_same(one: Any, other: Any) -> None:
    """Numbers are doubles, however they are written, and members have no order."""
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_values_that_are_not(one: Any, other: Any) -> None:
    """Truths and texts are no numbers, and lists have an order."""
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("value", ["Zürich", 2**70, {"half": "\ud800", "whole": "ü"}, {"\udc00": 2**70}])
def test_every_value_can_be_written(value: Any) -> None:
    """Half of a surrogate pair is written as an escape, since UTF-8 has no form for it."""
    assert value == json.loads(compact(value))


VALUE = {"city": "Zürich", "degrees": 18.5, "many": 1000, "sure": True, "none": None}


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Z\\u00fcrich", "degrees": 18.50, "many": 1e3, "sure": true, "none": null}',
        '{"result": {"city": "Zürich", "degrees": 18.5, "many": 1000.0, "sure": true, "none": null}}',
        "{'city': 'Zürich', 'degrees': 18.5, 'many': 1000, 'sure': True, 'none': None}",
        "city: Zürich\ndegrees: 18.50\nmany: 1000.0\nsure: true\nnone: ~",
    ],
)
def test_texts_that_say_a_value(text: str) -> None:
    """JSON with any escapes and any wrapping, Python's words, YAML."""
    assert [] == left_out(VALUE, text)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ('{"city": "Zurich", "degrees": 18.5, "many": 1000, "sure": true}', ["Zürich"]),
        ("city Zürich, degrees 19, many 1000, sure true", ["18.5"]),
        ("city Zürich, degrees 18.5, many, sure true", ["1000"]),
        ("[object Object]", ["city", "Zürich", "degrees", "18.5", "many", "1000", "sure", "true"]),
    ],
)
def test_texts_that_leave_something_out(text: str, lost: list[str]) -> None:
    """Each key and leaf that is not said is named; null need not be."""
    assert lost == [one for one in left_out(VALUE, text) if one != "none"]


@pytest.mark.parametrize(
    "text",
    [
        "error: protocol String.Chars not implemented for %{}",
        "Error calling ping: [1, 2]",
        "java.lang.ClassCastException: {city=Oslo}",
        "** (Protocol.UndefinedError) for %{}",
        "Traceback (most recent call last):",
    ],
)
def test_errors_about_a_value(text: str) -> None:
    """They begin with their own name."""
    assert begins_as_error(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"error": null, "value": 42}',
        "<error/><value>42</value>",
        "Result of ping (no error): 42",
        "error: None\nvalue: 42",
        "Errors: 0\nvalue: 42",
        '%{city: "Oslo"}',
        "city: Oslo",
        "True",
    ],
)
def test_renderings_of_a_value(text: str) -> None:
    """No rendering begins like an error, with or without a word on errors."""
    assert not begins_as_error(text)
