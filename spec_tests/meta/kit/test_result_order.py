"""`results_in_call_order`: two histories that differ only in the order of a turn's results are equal."""

from __future__ import annotations

from looptck.values.history import Answered, Asked, Item, Said, results_in_call_order

PROMPT = Said("user", "Go.")
CALLS: list[Item] = [Asked("x", "add", "{}"), Asked("y", "add", "{}")]


def test_results_come_in_the_order_of_their_calls() -> None:
    """The results of a turn are sorted; nothing else moves."""
    sent = [PROMPT, *CALLS, Answered("y", "two"), Answered("x", "one"), Said("assistant", "Done.")]

    expected = [PROMPT, *CALLS, Answered("x", "one"), Answered("y", "two"), Said("assistant", "Done.")]
    assert expected == results_in_call_order(sent)


def test_each_turn_is_sorted_alone() -> None:
    """An id that comes again in a later turn belongs to the call of that turn."""
    again: list[Item] = [Asked("y", "add", "{}"), Asked("x", "add", "{}")]
    first: list[Item] = [Answered("x", "one"), Answered("y", "two")]
    second: list[Item] = [Answered("y", "three"), Answered("x", "four")]

    assert [*CALLS, *first, *again, *second] == results_in_call_order([*CALLS, *first[::-1], *again, *second[::-1]])


def test_two_results_of_one_call_keep_their_order() -> None:
    """What answers a call twice, or no call, is still seen to differ."""
    sent: list[Item] = [*CALLS, Answered("x", "one"), Answered("x", "two"), Answered("z", "three")]

    assert [*CALLS, Answered("z", "three"), Answered("x", "one"), Answered("x", "two")] == results_in_call_order(sent)
