"""The events of recorded streams are found as the event-stream format says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.spec import strategies
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.wires.found import NoTurn
from looptck.wires.received import events
from meta.wires.test_framing_rules import EVENTS

ENCODINGS = [framing for framing in PRESETS.values() if not framing.layout and framing.quirk is None]


def values(stream: str) -> list[object]:
    """What the events of a stream hold."""
    return [event.value for event in events(stream)]


@pytest.mark.parametrize("framing", ENCODINGS)
def test_any_encoding_holds_the_same_events(framing: Framing) -> None:
    """Line ends, comments, marks and names change nothing."""
    assert EVENTS[:2] == values(framing.encode(EVENTS, named=True).decode())


@given(st.lists(strategies.arguments(), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_any_events_come_back(said: list[object], newline: str, data_lines: bool) -> None:
    """Any objects come back, however their lines are laid."""
    framing = DEFAULT.but(newline=newline, data_lines=data_lines, mark=True, comments=True)

    assert said == values(framing.encode(said).decode())


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_what_no_empty_line_ends_is_no_event(end: str) -> None:
    """An event whose empty line never came is not there: more of it may be missing."""
    assert [1] == values(f"data: 1\n\ndata: 2{end}")


def test_nothing_counts_behind_the_end_marker() -> None:
    """The end marker is the end, and not an event."""
    assert [1] == values("data: 1\n\ndata: [DONE]\n\ndata: 2\n\n")


def test_data_that_is_no_json_is_refused() -> None:
    """An event of another kind is an error that names it, and is not passed over."""
    with pytest.raises(NoTurn, match='JSON was expected: event 2 is "x", Expecting value'):
        values("data: 1\n\ndata: x\n\n")
