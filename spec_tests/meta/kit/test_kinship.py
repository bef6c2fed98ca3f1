"""The message of a comparison says in what known way a value differs from the expected one."""

from __future__ import annotations

import pytest

from looptck.values.kinship import kinship
from looptck.values.plain import differs

CALL = ("weather", {"city": "Paris"})
TEXT = '{"city": "Paris"}'


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        ("Done.", "Done.Done.", "the same twice"),
        ("Done.", "Done.Done.Done.", "the same 3 times"),
        ("ab", "abab", ""),
        ("Done.", "Done. Done", ""),
        ("Done.", '"Done."', "the same in quotes"),
        (["It is sunny"], ["It is sunnyIt is sunny"], "the same twice"),
        ([CALL], [CALL, CALL], "the same twice"),
        ([1, 2, 2], [2, 1, 2], "the same in another order"),
        ([1, 2, 2], [2, 1, 1], ""),
        ([], [1], ""),
        ([1], [], ""),
        ([1], [1, 2], ""),
        ([1], None, ""),
        ({"city": "Paris"}, TEXT, "the same as a text of JSON"),
        ([["weather", {"city": "Paris"}]], [["weather", TEXT]], "the same as a text of JSON"),
        (TEXT, {"city": "Paris"}, "what the text says as JSON"),
        ({"a": 1, "b": "abc"}, {"a": 1, "b": "abcabc"}, "the same twice"),
        ({"a": 1, "b": "abc"}, {"a": 2, "b": "abcabc"}, ""),
        ({"a": 1}, {"a": 1, "b": 2}, ""),
        ({"a": 1, "b": "abc"}, {"b": "abcabc"}, ""),
        ({"a": 1}, None, ""),
        ("x", "[" * 100_000, ""),
        ({}, "[" * 100_000, ""),
        (1, True, ""),
        (1, 2, ""),
        (None, "", ""),
    ],
)
def test_kinship_is_told(expected: object, got: object, words: str) -> None:
    """It is told of texts, lists and objects, of one member too, and of nothing else."""
    assert words == kinship(expected, got)
    assert differs(expected, got).endswith(f" ({words})" if words else differs(expected, got))
