"""The expected history: worked out from script and tools, and held against what a loop sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looptck.bench.oracle import Owed, Ran, Wanted, agrees, difference
from looptck.bench.oracle import items as items_by
from looptck.spec import strategies
from looptck.values.history import Answered, Asked, Item, Said
from looptck.values.turns import Call, Turn, calls, says
from looptck.wires.openai_chat import OPENAI_CHAT

PROMPT = (("system", "Be short."), ("user", "Go."))
TURN = calls(Call("add", '{"a": 1}', "x"), Call("add", '{"a": 2}', "y"), text="I add.")
RAN = [Ran("add", {"a": 2}, {"value": "two"}), Ran("add", {"a": 1}, {"value": "one"})]
RIGHT: list[Item] = [
    Said("system", "Be short.", "/messages/0/content"),
    Said("user", "Go.", "/messages/1/content"),
    Said("assistant", "I add.", "/messages/2/content"),
    Asked("x", "add", '{"a":1}', "/messages/2/tool_calls/0"),
    Asked("y", "add", '{"a":2}', "/messages/2/tool_calls/1"),
    Answered("x", "one", "/messages/3"),
    Answered("y", "two", "/messages/4"),
]


def items(prompt: Sequence[tuple[str, str]], turns: Sequence[Turn], ran: Sequence[Ran]) -> list[Wanted]:
    """The expected history on the wire with the simplest echo."""
    return items_by(prompt, turns, ran, OPENAI_CHAT.echo)


def test_a_conversation_is_worked_out() -> None:
    """After a turn with calls the history has its text, its calls, and one answer for each, in call order."""
    assert [
        Said("system", "Be short."),
        Said("user", "Go."),
        Said("assistant", "I add."),
        Asked("x", "add", '{"a": 1}'),
        Asked("y", "add", '{"a": 2}'),
        Owed("x", "one"),
        Owed("y", "two"),
    ] == items(PROMPT, [TURN], RAN)


@pytest.mark.parametrize(("first", "second"), [("one", "two"), ("two", "one")])
def test_twins_may_have_run_in_either_order(first: str, second: str) -> None:
    """Nobody can tell which of two equal calls made which of two runs; a text of neither is wrong for both."""
    twins = calls(Call("add", '{"a": 1}', "x"), Call("add", '{"a":1}', "y"))
    ran = [Ran("add", {"a": 1}, {"value": text}) for text in ("one", "two")]
    wanted = items(PROMPT, [twins], ran)[-2:]

    assert all(map(agrees, wanted, [Answered("x", first), Answered("y", second)]))
    assert not agrees(wanted[0], Answered("x", "three"))
    assert not agrees(wanted[0], Answered("y", first))


def test_a_wrapped_result_holds_its_own_text_alone() -> None:
    """What another call returned is not in it, unless that is a word that any wrapping has, or an argument."""
    turn = calls(Call("add", '{"a": "seven and eight"}', "x"), Call("add", '{"a": 2}', "y"), Call("add", "{}", "z"))
    texts = ("the first", "seven and eight", "ok")
    ran = [Ran("add", {"a": "seven and eight"}, {"value": texts[0]}), Ran("add", {"a": 2}, {"value": texts[1]})]
    first, second, _ = items(PROMPT, [turn], [*ran, Ran("add", {}, {"value": texts[2]})])[-3:]

    assert agrees(second, Answered("y", "add gave: seven and eight"))
    assert agrees(first, Answered("x", '{"status": "ok", "of": "seven and eight", "is": "the first"}'))
    assert not agrees(second, Answered("y", '["the first", "seven and eight"]'))


def test_a_turn_without_calls_leaves_nothing() -> None:
    """An answer ends the loop, so no request carries it."""
    assert items(PROMPT, [], []) == items(PROMPT, [says("Done.")], [])


@pytest.mark.parametrize(
    "ran",
    [[], [Ran("add", {"a": 1}, None)], [Ran("add", {"a": 1}, {"error": {}})], [Ran("add", {"a": 1}, {"value": 3})]],
)
def test_what_the_documents_leave_open_is_owed_in_any_words(ran: list[Ran]) -> None:
    """A call whose tool did not run, was not over, raised, or returned no text is owed an answer, of any text."""
    assert Owed("x", None) == items((), [calls(*TURN.calls[:1])], ran)[-1]


def test_the_same_call_twice_takes_both_runs() -> None:
    """Two calls with the same arguments are owed the results of two runs, one each."""
    twice = calls(Call("add", '{"a": 1}', "x"), Call("add", '{"a":1}', "y"))
    ran = [Ran("add", {"a": 1}, {"value": "first"}), Ran("add", {"a": 1.0}, {"value": "second"})]

    owed = [(one.id, one.text) for one in items((), [twice], ran) if isinstance(one, Owed)]
    assert [("x", "first"), ("y", "second")] == owed


def at(place: int, item: Item) -> list[Item]:
    """The right history with another item at a place."""
    return [*RIGHT[:place], item, *RIGHT[place + 1 :]]


@pytest.mark.parametrize(
    "got",
    [
        RIGHT,
        at(0, Said("developer", " Be short.\n")),
        at(3, Asked("x", "add", '{ "a" : 1.0 }')),
        [replace(item, pointer="") for item in RIGHT],
    ],
)
def test_what_means_the_same_is_no_difference(got: list[Item]) -> None:
    """The newer name of the system role, blanks around a text, and another way to write JSON make no difference."""
    assert difference(items(PROMPT, [TURN], RAN), got) is None


@pytest.mark.parametrize(
    ("got", "pointer", "expected", "told"),
    [
        (RIGHT[:5], "the end of the history", "result of x: 'one'", "nothing: the history ends here"),
        ([*RIGHT, Said("user", "More.", "/m")], "/m", "nothing: the history ends here", "user says 'More.'"),
        ([*RIGHT[:2], *RIGHT[3:]], "/messages/2/tool_calls/0", "assistant says 'I add.'", 'call x: add({"a":1})'),
        (at(5, Answered("y", "one", "/p")), "/p", "result of x: 'one'", "result of y: 'one'"),
        (at(6, Answered("y", "one", "/p")), "/p", "result of y: 'two'", "result of y: 'one'"),
        (
            at(3, Asked("x", "add", '{"a":true}', "/p")),
            "/p",
            'call x: add({"a": 1})',
            'call x: add({"a":true})',
        ),
        (at(3, Asked("x", "sub", '{"a":1}', "/p")), "/p", 'call x: add({"a": 1})', 'call x: sub({"a":1})'),
        (at(1, Said("assistant", "Go.", "/p")), "/p", "user says 'Go.'", "assistant says 'Go.'"),
        ([], "the end of the history", "system says 'Be short.'", "nothing: the history ends here"),
    ],
)
def test_the_first_difference_is_told(got: list[Item], pointer: str, expected: str, told: str) -> None:
    """A history that is not the expected one differs first at a place, in what was expected there and what is."""
    found = difference(items(PROMPT, [TURN], RAN), got)

    assert found is not None
    assert (pointer, expected, told) == (found.pointer, found.expected, found.got)


def test_any_words_are_told_as_such() -> None:
    """Where an answer in any words is missing, the difference says so."""
    found = difference([Owed("x", None)], [])

    assert found is not None
    assert "result of x, any text" == found.expected


def echoed(wanted: list[Wanted]) -> list[Item]:
    """What a loop sends that does all that is expected of it."""
    return [Answered(one.id, one.text or "anything") if isinstance(one, Owed) else one for one in wanted]


CONVERSATIONS = strategies.conversations().map(lambda turns: [turn.numbered(n) for n, turn in enumerate(turns, 1)])


def run_of(turns: list[Turn]) -> list[Ran]:
    """The runs of all calls of these turns."""
    made: list[Any] = [(call.tool, json.loads(call.arguments)) for turn in turns for call in turn.calls]
    return [Ran(tool, arguments, {"value": f"result {n}"}) for n, (tool, arguments) in enumerate(made)]


@settings(max_examples=50)
@given(CONVERSATIONS)
def test_a_right_history_never_differs(turns: list[Turn]) -> None:
    """A loop that carries any conversation as it was has nothing to fear."""
    wanted = items(PROMPT, turns, run_of(turns))

    assert difference(wanted, echoed(wanted)) is None
    assert all(map(agrees, wanted, echoed(wanted)))


@settings(max_examples=50)
@given(CONVERSATIONS, st.data())
def test_a_lost_piece_is_always_found(turns: list[Turn], data: st.DataObject) -> None:
    """A history that lost any one piece, and is not the same by chance, differs."""
    wanted = items(PROMPT, turns, run_of(turns))
    whole = echoed(wanted)
    lost = data.draw(st.integers(0, len(whole) - 1), label="the place of what is lost")

    assert difference(wanted, whole[:lost] + whole[lost + 1 :]) is not None


@settings(max_examples=50)
@given(CONVERSATIONS.filter(bool), st.data())
def test_a_swapped_id_is_always_found(turns: list[Turn], data: st.DataObject) -> None:
    """An answer under another id differs, at its own place."""
    wanted = items(PROMPT, turns, run_of(turns))
    whole = echoed(wanted)
    places = [place for place, item in enumerate(whole) if isinstance(item, Answered)]
    place = data.draw(st.sampled_from(places), label="the answer")
    item = whole[place]
    assert isinstance(item, Answered)
    whole[place] = replace(item, id="another", pointer="/there")
    found = difference(wanted, whole)

    assert found is not None
    assert "/there" == found.pointer
