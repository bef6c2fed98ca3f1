"""The reason of a failure says which tool runs are wrong."""

from __future__ import annotations

from looptck.bench.assertions.tool_runs import LONG, other_runs

NOTES = [("note", f'{{"text": "note {number}"}}') for number in range(9)]
OTHER = ("note", '{"text": "other"}')


def test_few_runs_are_all_told() -> None:
    """Both short lists are told whole, also what they have in common."""
    told = other_runs(NOTES[:1], [NOTES[0], OTHER])

    runs = 'note({"text": "note 0"}), note({"text": "other"})'
    assert f'expected tool runs: note({{"text": "note 0"}}); actual tool runs: {runs}' == told


def test_of_many_runs_the_wrong_ones_are_told() -> None:
    """Of long lists only what differs is told, and how many are right."""
    told = other_runs(NOTES, [*NOTES[:8], OTHER])

    assert (
        'expected tool runs: note({"text": "note 8"}); actual tool runs: note({"text": "other"}); 8 others are right'
        == told
    )


def test_runs_that_never_came() -> None:
    """None of what is missing has another run in its place."""
    told = other_runs(NOTES, NOTES[1:])

    assert 'expected tool runs: note({"text": "note 0"}); actual tool runs: none; 8 others are right' == told


def test_a_run_too_many() -> None:
    """A run that came twice is told with its number."""
    told = other_runs(NOTES, [*NOTES, NOTES[0]])

    assert 'note({"text": "note 0"}) ran 2 times, not once; 8 others are right' == told


def test_nothing_right_is_told_whole() -> None:
    """Lists with nothing in common are told whole, however long they are."""
    assert len(other_runs(NOTES, [OTHER])) > LONG


def test_arguments_that_are_no_object_are_those_of_a_run() -> None:
    """A list of arguments, and a tool whose name has a dot, read as runs too."""
    told = other_runs([], [("weather", '["Paris"]'), ("town.map", "{}")])

    assert 'expected tool runs: none; actual tool runs: weather(["Paris"]), town.map({})' == told
