"""Ids that a loop has replaced: read as those of the script where calls and results agree, and told where not."""

from __future__ import annotations

import pytest

from looptck.values.call_ids import renamed, with_script_ids
from looptck.values.history import Answered, Asked, Item, Request
from looptck.values.turns import Call

PARIS, OSLO, PING = '{"city": "Paris"}', '{"city": "Oslo"}', "{}"
FIRST = (Call("weather", PARIS, "a"), Call("weather", OSLO, "b"))
SECOND = (Call("ping", PING, "c"),)


def request(*items: Item) -> Request:
    """A request with this history."""
    return Request("m", stream=False, items=items, tools=())


def asked(paris: str, oslo: str) -> list[Item]:
    """The first turn, with these ids."""
    return [Asked(paris, "weather", PARIS), Asked(oslo, "weather", '{"city":"Oslo"}')]


RIGHT = [*asked("a", "b"), Answered("a", "rain"), Answered("b", "snow")]
EMPTY = request()


@pytest.mark.parametrize(
    ("items", "new"),
    [
        (RIGHT, {}),
        ([*asked("x", "y"), Answered("x", "rain"), Answered("y", "snow")], {"a": "x", "b": "y"}),
        ([*asked("x", "b"), Answered("x", "rain"), Answered("b", "snow")], {"a": "x"}),
    ],
)
def test_calls_are_known_by_what_they_say(items: list[Item], new: dict[str, str]) -> None:
    """Whatever ids a loop gives them, tool and arguments tell which call is which."""
    told = with_script_ids([EMPTY, request(*items)], [FIRST])

    assert [(one.id, one.text) for one in told.answers] == [("a", "rain"), ("b", "snow")]
    assert ["a", "b"] == [one.id for one in told.asked]
    assert new == renamed([EMPTY, request(*items)], [FIRST])


def test_an_id_that_was_seen_stands_for_the_same_call() -> None:
    """In a later request, of which the first turn is gone, the ids are still those of their calls."""
    first = request(*asked("x", "y"), Answered("x", "rain"), Answered("y", "snow"))
    pruned = request(Asked("z", "ping", PING), Answered("z", "pong"))

    assert ["c", "c"] == [item.id for item in with_script_ids([EMPTY, first, pruned], [FIRST, SECOND]).items]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("items", "ids"),
    [
        (
            [*asked("x", "y"), Answered("a", "rain"), Answered("b", "snow")],
            [
                "a, the id of a call that is echoed under another id",
                "b, the id of a call that is echoed under another id",
            ],
        ),
        ([*asked("x", "x"), Answered("x", "rain"), Answered("x", "snow")], ["b", "b"]),
        ([*asked("a", "b"), Answered("b", "rain"), Answered("q", "snow")], ["b", "q"]),
        ([Answered("a", "rain"), Answered("b", "snow")], ["a", "b"]),
    ],
    ids=["calls-only", "one-for-all", "results-only", "no-calls"],
)
def test_results_have_the_ids_of_their_calls(items: list[Item], ids: list[str]) -> None:
    """New ids for calls alone, one id for all, and ids that no call has, are not taken for right."""
    assert ids == [one.id for one in with_script_ids([EMPTY, request(*items)], [FIRST]).answers]


def test_twins_may_have_one_fresh_id() -> None:
    """Two calls of one id, of which the second got another, are both answered under the id of the script."""
    twins = (Call("weather", PARIS, "t"), Call("weather", OSLO, "t"))
    items = [*asked("t", "t_1"), Answered("t", "rain"), Answered("t_1", "snow")]

    assert [("t", "rain"), ("t", "snow")] == [
        (one.id, one.text) for one in with_script_ids([EMPTY, request(*items)], [twins]).answers
    ]
