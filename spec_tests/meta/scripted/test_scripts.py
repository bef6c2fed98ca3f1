"""What the model writes is what a server reads as the declared turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.cases import Record, cases
from looptck.commands.recording.scripted.scripts import Unwritable, scenarios, written
from looptck.values.turns import Call, Hosted, Refusal, Thinking, Turn, Unknown, calls, says, turn

PARIS = Call.of("weather", {"city": "Paris"})
WEATHER = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>'
PING = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (says("Hello."), "Hello."),
        (says(""), ""),
        (says(None), ""),
        (calls(PARIS), WEATHER),
        (calls(PARIS, Call("ping")), f"{WEATHER}\n{PING}"),
        (calls(PARIS, text="I look."), f"I look.{WEATHER}"),
        (turn(Thinking("So."), "I look.", PARIS), f"<think>So.</think>I look.{WEATHER}"),
        (calls(PARIS, stop="length"), WEATHER),
    ],
)
def test_a_turn_is_written_in_the_manner_of_hermes(said: Turn, text: str) -> None:
    """Thoughts and calls are written between marks, text is not."""
    assert text == written(said)


def test_a_cut_call_ends_where_it_is_cut() -> None:
    """Half a call has no end mark."""
    cut = calls(Call("ping"), Call("weather", '{"city": "Par'), stop="length")

    assert f'{PING}\n<tool_call>\n{{"name": "weather", "arguments": {{"city": "Par' == written(cut)


def test_a_stop_sequence_is_written_and_passed() -> None:
    """The model goes on behind the stop sequence, so that only the server can end its turn there."""
    text = written(says("One, two"), "...")

    assert text.startswith("One, two...")
    assert len("One, two...") < len(text)


@pytest.mark.parametrize(
    "piece",
    [Hosted(), Refusal("No."), Unknown(), Call("note", "milk", custom=True), Thinking("Hush.", redacted=True)],
)
def test_what_a_model_cannot_write_is_refused(piece: Hosted | Refusal | Unknown | Call | Thinking) -> None:
    """A piece that only a service makes has no text."""
    with pytest.raises(Unwritable, match="cannot write"):
        written(Turn((piece,)))


def test_a_case_that_cannot_be_said_is_named() -> None:
    """The error names the case and the turn."""
    case = replace(cases()["hosted-search"], record=Record())

    with pytest.raises(Unwritable, match="turn 1 of the case hosted-search"):
        scenarios({case.name: case})


def test_every_recorded_case_is_a_scenario() -> None:
    """A scenario has the question of its case and as many turns."""
    declared = {name: case for name, case in cases().items() if case.record is not None}

    found = scenarios(cases())

    assert sorted(declared) == [one.name for one in found]
    assert [declared[one.name].question for one in found] == [one.question for one in found]
    assert [len(declared[one.name].steps) for one in found] == [len(one.turns) for one in found]


def test_only_turns_without_calls_have_the_stop_sequence() -> None:
    """The stop sequence is at the place where it ends a turn."""
    found = {one.name: one.turns for one in scenarios(cases())}

    assert ["One, two, three... This is never to be seen."] == list(found["stop-sequence"])


def test_enough_is_recorded() -> None:
    """At least 24 conversations, those of the first recordings among them."""
    names = {one.name for one in scenarios(cases())}

    assert 24 <= len(names)
    assert {"no-call", "one-call", "parallel-calls", "chain", "beyond-ascii"} <= names
