"""Plain words: what a reader sees of a value is JSON or a sentence, whatever language the kit is written in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from looptck.values.framing import Framing
from looptck.values.history import Asked, Said
from looptck.values.outcome import Failed, Nothing, Value, shortened
from looptck.values.plain import Listed, begun, compared, differs, plain, without_bodies
from looptck.values.turns import Call, calls

LONG = "x" * 400


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("It's warm.", '"It\'s warm."'),
        (None, "nothing"),
        (True, "true"),
        ({"a": None, "b": [True, 1.5, "é"]}, '{"a": null, "b": [true, 1.5, "é"]}'),
        ([("ping", {}), ("weather", {"city": "Paris"})], '[ping({}), weather({"city": "Paris"})]'),
        ([("keep-note", {})], "[keep-note({})]"),
        (("a", 1), '["a", 1]'),
        ({2, 1}, "[1, 2]"),
        (Counter("aab"), '{"a": 2, "b": 1}'),
        (b"ab\xff", "'ab\ufffd'"),
        (Value("Hi."), "returned 'Hi.'"),
        ([Failed("other", "E", "m")], "[raised E: 'm' (reason: other)]"),
        (Nothing(2), "gave no outcome within 2 s"),
        (Nothing(2, still=True), "gave no outcome and waits for ever"),
        (Said("user", "Go."), "user says 'Go.'"),
        (Asked("c", "ping", "{}"), "call c: ping({})"),
        (calls(Call("ping")), 'turn pieces [call tool "ping"]'),
        (Framing(), "framing"),
        (Framing(newline="\r\n"), 'framing newline "\\r\\n"'),
        (object(), "object"),
        (Value, "value"),
    ],
)
def test_values_in_words(value: object, words: str) -> None:
    """JSON is JSON, what has a sentence says it, and of anything else the members that are not as usual are named."""
    assert words.replace('"It\'s warm."', repr("It's warm.")) == plain(value)


def test_what_lies_deep_is_left_out() -> None:
    """A value that holds itself many times over has an end."""
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]

    assert "…" in plain(deep)


@pytest.mark.parametrize(
    ("op", "left", "right", "words"),
    [
        ("==", 1, 2, "expected 1, got 2"),
        ("==", [], None, "expected [], got nothing"),
        (
            "==",
            [("f", {"a": 1})],
            [("f", '{"a": 1}')],
            'expected [["f", {"a": 1}]], got [["f", "{\\"a\\": 1}"]] (the same as a text of JSON)',
        ),
        ("==", {(1,): [1]}, {(1,): (1,)}, 'expected {"[1]": [1]}, got {"[1]": [1]}'),
        ("!=", 1, 1, "got 1, which it should not be"),
        ("<", 2, 1, "2 is not less than 1"),
        ("<=", 2, 1, "2 is more than 1"),
        (">", 1, 2, "1 is not more than 2"),
        (">=", 1, 2, "1 is less than 2"),
        ("in", "a", ["b"], "'a' is not in [\"b\"]"),
        ("not in", "a", ["a"], "'a' is in [\"a\"]"),
        ("is", 4, None, "expected nothing, got 4"),
        ("is not", None, None, "got nothing, which it should not be"),
    ],
)
def test_comparisons_in_words(op: str, left: object, right: object, words: str) -> None:
    """A comparison that does not hold is a sentence."""
    assert words == compared(op, left, right)


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (LONG + "a", LONG + "b", "after 400 characters that are the same, expected …"),
        ([1, LONG], [1, LONG, 2], "item 3 should not be there: 2"),
        ([1, LONG], [1], "it ends after 1 items; item 2 should be "),
        ([1, LONG], [2, LONG], "item 1: expected 1, got 2"),
        ({"a": LONG, "b": 1}, {"a": LONG, "b": 2}, "at 'b': expected 1, got 2"),
        ({"a": LONG, "b": 1}, {"a": LONG}, "at 'b': expected 1, got nothing"),
        ({"a": LONG}, {"a": LONG, "b": 1}, "at 'b': expected nothing, got 1"),
        (LONG, 1, "expected 'xxxx"),
    ],
)
def test_long_values_differ_somewhere(expected: object, got: object, words: str) -> None:
    """Of long values the first place at which they differ is told."""
    assert differs(expected, got).startswith(words)
    assert 600 > len(differs(expected, got))


def test_lists_in_messages_read_as_words() -> None:
    """A list of tool runs is equal to any other list of them, and reads as words."""
    runs = Listed([("ping", {})])

    assert [("ping", {})] == runs
    assert "ran [ping({})]" == f"ran {runs}"
    assert "nothing ran" == f"{Listed()} ran"


def test_long_values_are_cut_in_the_middle() -> None:
    """The beginning and the end of it, and how much is left out."""
    assert "'xx … 396 characters … xx'" == shortened("x" * 400, 6)


def test_sentences_are_cut_behind_a_word() -> None:
    """Their beginning says what they are about, and none of it is lost."""
    assert "It says that …" == begun("It says that nothing came.", 15)
    assert "It says that nothing came." == begun("It says that nothing came.", 26)
    assert "xxxx …" == begun("x" * 9, 4)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (
            """it raised Denied: '400: {"error":{"message":"It\\'s too long.","type":"invalid"}}' (reason: provider)""",
            "it raised Denied: '400: It\\'s too long.' (reason: provider)",
        ),
        (
            repr("""Error code: 400 - {'error': {'message': "It's too long.", 'code': None}}"""),
            "'Error code: 400 - It\\'s too long.'",
        ),
        ('{"type": "error", "error": {"type": "x", "message": "Too long"}}', "Too long"),
        ('{"city": "Paris"}', '{"city": "Paris"}'),
    ],
)
def test_an_error_is_shortened_to_its_message(text: str, short: str) -> None:
    """Of its body, within the text of an exception, nothing else is left."""
    assert short == without_bodies(text)
