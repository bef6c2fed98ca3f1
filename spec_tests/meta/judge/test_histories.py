"""Histories built legally are accepted, and those with one thing wrong are refused for that thing."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from meta.judge.judged import JudgedWire
from meta.judge.wires import EACH


@EACH
@given(st.data())
def test_a_legal_history_is_accepted(wire: JudgedWire, data: st.DataObject) -> None:
    """Any history whose calls are all answered as the service wants it is accepted."""
    history = data.draw(wire.legal, label="history")

    assert [] == wire.judge(wire.request(*history))


@EACH
@given(st.data())
def test_one_wrong_thing_is_named(wire: JudgedWire, data: st.DataObject) -> None:
    """A legal history with one thing done wrong is refused under the rule that names it, and what follows from it."""
    marked = data.draw(wire.marked, label="history and places")
    mutate = data.draw(st.sampled_from(wire.mutations), label="mutation")
    history, expected = mutate(*copy.deepcopy(marked))

    rules = [problem.rule for problem in wire.judge(wire.request(*history))]

    assert expected == rules
