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
        ("Done. \n", "Done.", "the same without the blanks at its end"),
        ("  Done.", "Done.", "the same without the blanks at its beginning"),
        ("  Done.\n", "Done.", "the same without the blanks at both ends"),
        ("Cafe\u0301", "Caf\u00e9", "the same with its accents composed, as in the normal form NFC"),
        ("Caf\u00e9", "Cafe\u0301", "the same with its accents apart, as in the normal form NFD"),
        (
            "Caf\u00e9 \u2460",
            "Caf\u00e9 1",
            "the same with other characters that look alike, as in the normal form NFKC",
        ),
        ("Caf\u00e9", "Caf", "the same without its characters beyond ASCII"),
        ("a < b", "a &lt; b", "the same as HTML"),
        ("a &lt; b", "a < b", "what the text says as HTML"),
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
