"""Traits of results: the text in which the model reads what a tool returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.spec.long_results import is_told_as_shortened, long_text
from looptck.spec.traits.answers import result_answer
from looptck.suite.asking import Loop
from looptck.values.history import holds, same_value
from looptck.values.plain import amount
from looptck.values.turns import Call, calls, says

OBJECT = {"city": "Zürich", "degrees": 18.5, "tags": ["dry", None]}
TEXT = "It is 18 °C,\nsays the “station”."


def _returning(loop: Loop, value: Any) -> Run:
    loop.scenario.returns("ping", value)
    return loop.plays(calls(Call.of("ping")), says("Read."))


def _words(words: dict[str, str], other: str) -> Callable[[str], str]:
    return lambda text: words.get(text.strip(), other)


@trait("text-result")
def test_text(loop: Loop) -> None:
    """The tool returns a text of two lines, with quotes."""

    def word(text: str) -> str:
        if text == TEXT:
            return "verbatim"
        if _value(text) == TEXT:
            return "as-json"
        return "wrapped" if TEXT in text or _holds(text, TEXT) else "other-text"

    loop.answers(*result_answer(_returning(loop, TEXT), word))


@trait("long-result")
def test_long_text(loop: Loop) -> None:
    """The tool returns a text of 20,000 characters."""
    text = long_text(20_000)

    def word(got: str) -> str:
        if holds(got, text):
            return "whole"
        return "shortened-and-told" if is_told_as_shortened(got) else "other-text"

    answer, got = result_answer(_returning(loop, text), word)
    loop.answers(answer, amount(len(got), "character") if text[:40] in got else got)


@trait("chat-tokens-in-a-result")
def test_chat_tokens(loop: Loop) -> None:
    """The tool returns a text with tokens of two chat templates: the end of a turn, and the end of all text."""
    tokens, rest = "<|im_end|><|endoftext|>[/INST]", "was in the log"

    def word(got: str) -> str:
        if holds(got, f"{tokens} {rest}"):
            return "verbatim"
        if rest not in got:
            return "other-text"
        return "broken-up" if "im_end" in got else "left-out"

    loop.answers(*result_answer(_returning(loop, f"{tokens} {rest}"), word))


@trait("empty-text-result")
def test_empty_text(loop: Loop) -> None:
    """The tool returns an empty text."""
    loop.answers(*result_answer(_returning(loop, ""), _words({"": "verbatim", '""': "as-json"}, "in-words")))


@trait("null-result")
def test_null(loop: Loop) -> None:
    """The tool returns nothing."""
    words = {"null": "as-json", "None": "as-python", "": "as-an-empty-text"}
    loop.answers(*result_answer(_returning(loop, None), _words(words, "in-words")))


@trait("truth-result")
def test_truth(loop: Loop) -> None:
    """The tool returns true."""
    words = {"true": "as-json", "True": "as-python"}
    loop.answers(*result_answer(_returning(loop, True), _words(words, "other-text")))


@trait("number-result")
def test_number(loop: Loop) -> None:
    """The tool returns a number."""
    loop.answers(*result_answer(_returning(loop, 42), _words({"42": "as-json", "42.0": "as-json"}, "other-text")))


@trait("empty-list-result")
def test_empty_list(loop: Loop) -> None:
    """The tool returns an empty list."""
    words = {"[]": "as-json", "": "as-an-empty-text"}
    loop.answers(*result_answer(_returning(loop, []), _words(words, "other-text")))


def _object(loop: Loop) -> Run:
    return loop.once("object", lambda: _returning(loop, OBJECT))


@trait("object-result")
def test_object(loop: Loop) -> None:
    """The tool returns an object."""

    def word(text: str) -> str:
        if text == str(OBJECT):
            return "as-python"
        if same_value(_value(text), OBJECT):
            spaced = "json-spaced" if ": " in text or ", " in text else "json-compact"
            return "json-indented" if "\n" in text.strip() else spaced
        return "json-inside" if _holds(text, OBJECT) else "other-text"

    loop.answers(*result_answer(_object(loop), word))


@trait("beyond-ascii-in-an-object")
def test_beyond_ascii(loop: Loop) -> None:
    """The object contains the name Zürich."""

    def word(text: str) -> str:
        escaped = "escaped" if "z\\u00fcrich" in text.lower() else "otherwise"
        return "as-they-are" if "Zürich" in text else escaped

    loop.answers(*result_answer(_object(loop), word))


NO_JSON = "no JSON"
"""A marker for texts that hold no JSON value."""


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return NO_JSON


def _holds(text: str, wanted: Any) -> bool:
    """Whether a text contains a JSON value that is the wanted one, or has it as a member."""
    decoder = json.JSONDecoder()
    for at, sign in enumerate(text):
        if sign not in '{"':
            continue
        try:
            value, _ = decoder.raw_decode(text, at)
        except ValueError:
            continue
        if any(same_value(one, wanted) for one in (value, *(value.values() if isinstance(value, dict) else ()))):
            return True
    return False
