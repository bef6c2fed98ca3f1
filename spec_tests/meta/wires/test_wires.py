"""What every wire has to keep to: it carries out the framings that it says it does, and says the turns that it can."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.spec import strategies
from looptck.values.framing import DEFAULT, LAYOUT, PRESETS, Framing, Quirk
from looptck.values.turns import Call, Hosted, Stop, Thinking, Turn, Unknown, calls, refuses, says, turn
from looptck.wires import WIRES, Wire

EACH = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
QUIRKS: tuple[Quirk, ...] = get_args(Quirk)
STOPS: tuple[Stop, ...] = get_args(Stop)
TWO = calls(Call.of("weather", {"city": "Zürich"}), Call.of("add", {"a": 1, "b": 2}), text="I look.")
EMPTY = calls(Call("ping", ""))
CUT = calls(Call.of("ping"), stop="length")
TURNS = [one.numbered(1) for one in (TWO, EMPTY, CUT, refuses("No."), says("Done."))]
"""Turns among which each framing finds something to change."""
OTHERWISE: dict[str, object] = {"fragment": 1, "done": False, "usage": False}
"""The other value of a field of the shape, where it is not True."""


def streams(wire: Wire, framing: Framing) -> list[bytes]:
    """The streams of all the turns."""
    named = wire.named_events
    return [framing.encode(wire.events(one, 1, framing), named=named) for one in TURNS]


@EACH
@pytest.mark.parametrize("field", LAYOUT)
def test_a_wire_carries_out_the_shapes_that_it_names(wire: Wire, field: str) -> None:
    """A field of the shape changes a stream where the wire names it, and nothing where it does not."""
    framing = DEFAULT.but(**{field: OTHERWISE.get(field, True)})

    assert {field} == framing.layout
    assert (field in wire.layouts) == wire.carries_out(framing) == (streams(wire, framing) != streams(wire, DEFAULT))


@EACH
@pytest.mark.parametrize("quirk", QUIRKS)
def test_a_wire_plays_the_quirks_that_it_names(wire: Wire, quirk: Quirk) -> None:
    """A quirk changes a stream or a body where the wire names it, and nothing where it does not."""
    framing = DEFAULT.but(quirk=quirk)
    bodies = [[wire.body(one, 1, how) for one in TURNS] for how in (DEFAULT, framing)]

    changed = streams(wire, framing) != streams(wire, DEFAULT) or bodies[0] != bodies[1]
    assert (quirk in wire.quirks) == wire.carries_out(framing) == changed


@pytest.mark.parametrize("name", PRESETS)
def test_each_name_is_carried_out_somewhere(name: str) -> None:
    """No framing has a name that means nothing on every wire."""
    assert any(wire.carries_out(PRESETS[name]) for wire in WIRES.values())


@EACH
@given(strategies.turns_with_thoughts(), st.integers(0, 7))
def test_the_text_of_a_stream_is_the_text_of_the_turn(wire: Wire, said: Turn, fragment: int) -> None:
    """What the events add for the caller, joined, is the text of the turn; holds are placed by it."""
    events = wire.events(said.numbered(1), 1, DEFAULT.but(fragment=fragment))

    assert (said.text or "") == "".join(map(wire.text, events))


@EACH
@given(strategies.turns_with_thoughts())
def test_without_finish_something_is_missing(wire: Wire, said: Turn) -> None:
    """Some events are gone, and the others stand as they stood."""
    events = wire.events(said.numbered(1), 1, DEFAULT)
    kept = wire.without_finish(events)

    assert kept
    assert len(kept) < len(events)
    assert kept == [event for event in events if any(event is other for other in kept)]


@EACH
def test_an_error_in_a_stream_says_what_it_is(wire: Wire) -> None:
    """The events of an error hold its message, and whatever came before them stays."""
    events = wire.events(TURNS[0], 1, DEFAULT)[:2]
    events_of_the_error = wire.error_events(list(events), "Too many fish.")

    assert "Too many fish." in str(events_of_the_error[0])
    assert 2 == len(events)


@EACH
@pytest.mark.parametrize("stop", STOPS)
def test_a_wire_says_the_stops_that_it_names(wire: Wire, stop: Stop) -> None:
    """A stop that the wire has a word for can be said both ways; for another it has no words."""
    said = says("It is", stop=stop)

    assert [stop in wire.stops] * 2 == [wire.can_say(said, stream=stream) for stream in (False, True)]
    if stop in wire.stops:
        assert wire.body(said, 1, DEFAULT)
        assert wire.events(said, 1, DEFAULT)


@EACH
@pytest.mark.parametrize(
    ("arguments", "stop", "readable"),
    [
        ('{"a": 1}', None, True),
        ("", None, True),
        ('{"a": ', None, False),
        ("[1]", None, False),
        ('{"a": ', "length", True),
    ],
)
def test_broken_arguments_are_said_where_they_can_be(
    wire: Wire, arguments: str, stop: Stop | None, readable: bool
) -> None:
    """Where a plain reply carries arguments as an object, only a cut turn may have broken ones."""
    said = calls(Call("add", arguments), stop=stop)

    assert wire.can_say(said, stream=True)
    assert wire.can_say(said, stream=False) == (readable or not wire.parsed_arguments)


KINDS = [
    turn(Thinking("So.")),
    turn(Thinking("So.", redacted=True)),
    turn(Hosted()),
    turn(Hosted("mcp")),
    turn(Unknown()),
]


@pytest.mark.parametrize(("wire", "said"), list(product(WIRES.values(), KINDS)))
def test_an_echo_holds_what_a_wire_carries(wire: Wire, said: Turn) -> None:
    """A wire that carries thoughts and hosted tools wants them back; one that carries none wants nothing."""
    asks = Turn((*said.pieces, Call.of("ping"))).numbered(1)
    bare = calls(Call.of("ping")).numbered(1)

    assert (wire.name != "openai-chat") == (len(wire.echo(asks)) > len(wire.echo(bare)))
    assert (wire.name != "openai-chat") == (wire.body(asks, 1, DEFAULT) != wire.body(bare, 1, DEFAULT))


def test_wires_have_names_and_routes_of_their_own() -> None:
    """The catalogue's words, each with a route."""
    assert ["openai-chat", "openai-responses", "anthropic-messages"] == list(WIRES)
    assert 3 == len({wire.route for wire in WIRES.values()})
