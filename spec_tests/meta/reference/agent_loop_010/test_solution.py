"""Solutions, read while they are written."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.agent_loop_010 import Reader, Solution, Unreadable

CALLS = [
    {"_tool": "fetch", "city": "†input.city", "list": [1, 2.5, -3e2, True, None, {"deep": []}]},
    {"_tool": "say", "words": '😀 † "quoted" \\ } ] ,\n', "_outputPath": "†state.said"},
    {},
]
DOCUMENT = {"meta": {"calls": [{"no": "call"}]}, "calls": CALLS, "output": {"calls": [{"nor": "this"}]}}
TEXTS = [
    json.dumps({name: DOCUMENT[name] for name in order}, ensure_ascii=ascii, indent=indent)
    for order in (("meta", "calls", "output"), ("output", "calls", "meta"), ("output", "meta", "calls"))
    for ascii in (False, True)
    for indent in (None, 1)
]


def read(*pieces: str) -> tuple[list[list[Any]], Solution | Unreadable]:
    """The calls that each piece gave, and what it all was."""
    reader = Reader()
    return [reader.feed(piece) for piece in pieces], reader.close()


def utf16(text: str) -> list[str]:
    """The text in pieces of one UTF-16 unit, halves of surrogate pairs among them."""
    units = text.encode("utf-16-le")
    return [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]


@pytest.mark.parametrize("text", TEXTS)
def test_every_unit_for_itself(text: str) -> None:
    """Each call comes with its closing brace and not before, and all of them are those of the document."""
    given, solution = read(*utf16(text))

    assert CALLS == [call for calls in given for call in calls]
    assert Solution(DOCUMENT) == solution
    for at, calls in enumerate(given):
        if calls:
            assert "}" == utf16(text)[at]


@pytest.mark.parametrize("text", TEXTS)
def test_every_cut_in_two(text: str) -> None:
    """Wherever a document is cut, the calls that are whole before the cut are given before it, and the others after."""
    ends = [at for at, calls in enumerate(read(*text)[0]) if calls]

    for at in range(len(text) + 1):
        first = sum(end < at for end in ends)

        assert [CALLS[:first], CALLS[first:]] == read(text[:at], text[at:])[0]


@given(st.sampled_from(TEXTS), st.lists(st.integers(0, 400), max_size=12))
def test_any_cuts(text: str, cuts: list[int]) -> None:
    """The cuts change nothing of what is read."""
    units = utf16(text)
    at = [0, *sorted(min(cut, len(units)) for cut in cuts), len(units)]

    given, solution = read(*("".join(units[one:other]) for one, other in pairwise(at)))

    assert CALLS == [call for calls in given for call in calls]
    assert Solution(DOCUMENT) == solution


@pytest.mark.parametrize(
    "text",
    [
        '[{"calls":[1]}]',
        '{"calls":{"item":1,"calls":[1]}}',
        '{"calls.item":1,"x":{"calls":[1]},"y":[{"calls":[1]}]}',
        '{"calls":1,"x":[1]}',
        '{"x":{"calls":0},"y":[1]}',
    ],
)
def test_no_calls(text: str) -> None:
    """Only the elements of the array under `calls` of the document itself are Calls."""
    assert [[]] == read(text)[0]


def test_depth() -> None:
    """What is nested as deeply as may be is read; one level more is refused before it is held."""
    for inside, calls in (("[" * 98 + "]" * 98, 1), ("[" * 99 + "]" * 99, 0)):
        given, solution = read(f'{{"calls":[{inside}]}}')
        assert calls == len(given[0])
        assert isinstance(solution, Solution) == bool(calls)


@pytest.mark.parametrize("rest", ["", "]", "],", '],"output":', "]}}", "]} and so on", "],x", ',{"n":', "],NaN:1}"])
def test_a_document_that_breaks_off(rest: str) -> None:
    """What was given stays given, and the document is unreadable."""
    given, solution = read('{"calls":[{"n":1}', rest)

    assert [{"n": 1}] == given[0]
    assert isinstance(solution, Unreadable)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the Solution is not JSON"),
        ("I cannot do that.", "the Solution is not JSON"),
        ('{"output":NaN}', "the Solution is not JSON: NaN is not JSON"),
        ("[" * 1_000_000, "the Solution is not JSON"),
        ('{"a":' * 1_000_000, "the Solution is not JSON"),
        ('{"calls":[1e999]}', "the Solution is not JSON: 1e999 is too large a number"),
        ('{"calls":[1e99999999999999999999]}', "the Solution is not JSON"),
        ('{"output":1e999}', "the Solution is not JSON: 1e999 is too large a number"),
        ('{"output":' + "[" * 100 + "]" * 100 + "}", "the Solution cannot be read: it is nested more than 100 deep"),
        ("[]", "the Solution is not a JSON object"),
        ('{"calls":{}}', "/calls of the Solution is not an array"),
        ('{"calls":0}', "/calls of the Solution is not an array"),
    ],
)
def test_unreadable(text: str, reason: str) -> None:
    """The reason says what is wrong."""
    solution = read(text)[1]

    assert isinstance(solution, Unreadable)
    assert solution.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "calls", "has_output", "output"),
    [
        ("{}", [], False, None),
        ('{"calls":null,"output":null}', [], True, None),
        (' {"calls":[{"a":1}],"output":0} \n', [{"a": 1}], True, 0),
        ('{"output":{"x":[]}}', [], True, {"x": []}),
    ],
)
def test_members(text: str, calls: list[Any], has_output: bool, output: Any) -> None:
    """A Solution without calls has none; one without an output is told from one whose output is null."""
    solution = read(text)[1]

    assert isinstance(solution, Solution)
    assert (calls, has_output, output) == (solution.calls, solution.has_output, solution.output)


def test_half_a_pair_at_the_end() -> None:
    """A half that never finds its other one is no JSON text outside a string, and no reason to fail otherwise."""
    assert isinstance(read("{}", "\ud83d")[1], Unreadable)
    assert Solution({"output": "\N{REPLACEMENT CHARACTER}"}) == read('{"output":"\ud83d', '"}')[1]
