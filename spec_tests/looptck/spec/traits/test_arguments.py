"""Traits of arguments: how a loop treats arguments that are not JSON, not an object, or violate the schema."""

from __future__ import annotations

import json
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.spec.traits.answers import TraitAnswer, call_answer
from looptck.suite.asking import Loop
from looptck.values.history import Asked, same_arguments
from looptck.values.turns import Call, calls, says

PARIS: dict[str, Any] = {"city": "Paris"}
BROKEN = '{"city": "Paris'
BIG = 2**53 + 1


def _played(loop: Loop, tool: str, written: str) -> Run:
    return loop.once(f"{tool}({written})", lambda: loop.plays(calls(Call(tool, written)), says("Done.")))


def _mended(loop: Loop, written: str) -> TraitAnswer:
    return call_answer(_played(loop, "weather", written), "weather", {"run-as-meant": PARIS, "run-with-nothing": {}})


@trait("broken-arguments")
def test_broken_arguments(loop: Loop) -> None:
    """The JSON breaks off in a string."""
    loop.answers(*_mended(loop, BROKEN))


@trait("echo-of-broken-arguments")
def test_echo_of_broken_arguments(loop: Loop) -> None:
    """The JSON breaks off in a string; the next request carries the call."""
    run = _played(loop, "weather", BROKEN)

    run.delivered(1)
    run.request(2)
    echoed = [item.arguments for item in run.added(1) if isinstance(item, Asked)]
    if not echoed:
        loop.answers("not-echoed")
        return
    loop.answers(_as_echoed(echoed[0].strip()), echoed[0])


def _as_echoed(text: str) -> str:
    """The answer for the echoed form of the text that broke off."""
    if text in {BROKEN, "{}"}:
        return "as-written" if text == BROKEN else "empty-object"
    if same_arguments(text, json.dumps(PARIS)):
        return "mended"
    return "wrapped" if json.dumps(BROKEN)[1:-1] in text else "otherwise"


@trait("unclosed-arguments")
def test_unclosed_arguments(loop: Loop) -> None:
    """The JSON is whole but for its last brace, which a lenient parser supplies (RFC 8259 §9)."""
    loop.answers(*_mended(loop, '{"city": "Paris"'))


@trait("fenced-arguments")
def test_fenced_arguments(loop: Loop) -> None:
    """The JSON is in a Markdown fence."""
    loop.answers(*_mended(loop, f"```json\n{json.dumps(PARIS)}\n```"))


@trait("trailing-comma-in-arguments")
def test_trailing_comma(loop: Loop) -> None:
    """A comma follows the last member."""
    loop.answers(*_mended(loop, '{"city": "Paris",}'))


@trait("single-quotes-in-arguments")
def test_single_quotes(loop: Loop) -> None:
    """Names and strings are in single quotes."""
    loop.answers(*_mended(loop, "{'city': 'Paris'}"))


@trait("list-as-arguments")
def test_list(loop: Loop) -> None:
    """The arguments are a list that contains the one argument."""
    loop.answers(*_mended(loop, '["Paris"]'))


@trait("text-as-arguments")
def test_text(loop: Loop) -> None:
    """The arguments are a string: the value of the one argument."""
    loop.answers(*_mended(loop, '"Paris"'))


@trait("number-as-arguments")
def test_number(loop: Loop) -> None:
    """The arguments are a number."""
    loop.answers(*_mended(loop, "42"))


@trait("null-as-arguments")
def test_null(loop: Loop) -> None:
    """The arguments are null; the tool needs none."""
    loop.answers(*call_answer(_played(loop, "ping", "null"), "ping", {"run-with-nothing": {}}))


@trait("empty-arguments")
def test_empty(loop: Loop) -> None:
    """The arguments are an empty text; the tool needs none."""
    loop.answers(*call_answer(_played(loop, "ping", ""), "ping", {"run-with-nothing": {}}))


@trait("echo-of-empty-arguments")
def test_echo_of_empty(loop: Loop) -> None:
    """The arguments are an empty text; the next request carries the call."""
    run = _played(loop, "ping", "")

    run.delivered(1)
    run.request(2)
    echoed = [item.arguments.strip() for item in run.added(1) if isinstance(item, Asked)]
    words = {"": "as-written", "{}": "empty-object", "null": "nothing-as-null"}
    loop.answers(*((words.get(echoed[0], "otherwise"), echoed[0]) if echoed else ("not-echoed",)))


@trait("text-for-a-number")
def test_text_for_a_number(loop: Loop) -> None:
    """The first of two numbers is written as a string."""
    run = _played(loop, "add", '{"a": "1", "b": 2}')

    loop.answers(*call_answer(run, "add", {"run-as-written": {"a": "1", "b": 2}, "run-coerced": {"a": 1, "b": 2}}))


@trait("number-for-a-text")
def test_number_for_a_text(loop: Loop) -> None:
    """The only string is written as a number."""
    run = _played(loop, "weather", '{"city": 7}')

    loop.answers(*call_answer(run, "weather", {"run-as-written": {"city": 7}, "run-coerced": {"city": "7"}}))


@trait("missing-argument")
def test_missing(loop: Loop) -> None:
    """The one required member is missing."""
    loop.answers(*call_answer(_played(loop, "weather", "{}"), "weather", {"run-as-written": {}}))


@trait("undeclared-argument")
def test_undeclared(loop: Loop) -> None:
    """The arguments have a member that the tool does not declare."""
    run = _played(loop, "weather", '{"city": "Paris", "days": 3}')

    loop.answers(*call_answer(run, "weather", {"run-as-written": {**PARIS, "days": 3}, "run-without-it": PARIS}))


@trait("big-integer")
def test_big_integer(loop: Loop) -> None:
    """The first summand is an integer that a double cannot represent."""
    run = _played(loop, "add", f'{{"a": {BIG}, "b": 1}}')

    loop.answers(*call_answer(run, "add", {"run-exact": {"a": BIG, "b": 1}, "run-rounded": {"a": BIG - 1, "b": 1}}))
