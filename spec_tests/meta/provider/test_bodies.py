"""Bodies that grow are parsed from their new end, with the value of a whole parse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.growth import Bodies
from looptck.values.jsontext import parsed

GROWS = {
    "compact": (b'{"a":[1],"b":2}', b'{"a":[1,2],"b":2}', "a"),
    "at the end": (b'{"b":[9],"a":[1]}', b'{"b":[9],"a":[1,{"x":[]}]}', "a"),
    "with blanks": (b'{"a": [1, [2] ], "b": 2}', b'{"a": [1, [2], "]" ], "b": 2}', "a"),
    "in lines": (b'{\n "a": [\n  1\n ]\n}', b'{\n "a": [\n  1,\n  2\n ]\n}', "a"),
    "marked": (b'\xef\xbb\xbf{"a":[1]}', b'\xef\xbb\xbf{"a":[1,2]}', "a"),
    "the last of two of a name": (b'{"a":[1],"a":[2]}', b'{"a":[1],"a":[2,3]}', "a"),
}
"""A body, the next one, and the name of the list that goes on."""

OTHERWISE = {
    "longer, but in a text": (b'{"a":["x]"]}', b'{"a":["x,1]"]}'),
    "longer in an inner list": (b'{"a":[[1]]}', b'{"a":[[1,2]]}'),
    "a list in an object": (b'{"o":{"a":[1]}}', b'{"o":{"a":[1,2]}}'),
    "from an empty list": (b'{"a":[]}', b'{"a":[1]}'),
    "an empty list and a comma": (b'{"a":[]}', b'{"a":[,1]}'),
    "a comma too much": (b'{"a":[1]}', b'{"a":[1,]}'),
    "a comma in a number": (b'{"a":[12]}', b'{"a":[1,32]}'),
    "a comma in a text": (b'{"a":["12"]}', b'{"a":["1,32"]}'),
    "a list that is closed early": (b'{"a":[1]}', b'{"a":[1],"b":[2]}'),
    "a list that is closed early and opened": (b'{"a":[1],"b":[3]}', b'{"a":[1,2],"b":[2],"b":[3]}'),
    "the first of two of a name": (b'{"a":[1],"a":[2]}', b'{"a":[1,3],"a":[2]}'),
    "the first of two of a name, and the same": (b'{"a":[2],"a":[2]}', b'{"a":[2,3],"a":[2]}'),
    "the last of three of two names": (b'{"a":[1],"b":[2],"a":[3]}', b'{"a":[1],"b":[2],"a":[3,4],"a":[3]}'),
    "another list before the name comes again": (b'{"a":[1],"b":[2],"a":[3],"c":0}', b'{"a":[1],"b":[2],"a":[3,4]}'),
    "a change before": (b'{"a":[1,2]}', b'{"a":[0,2,3]}'),
    "a change behind": (b'{"a":[1],"b":2}', b'{"a":[1,2],"b":3}'),
    "one value for another": (b'{"a":[1]}', b'{"a":[true,2]}'),
    "shorter": (b'{"a":[1,2]}', b'{"a":[1]}'),
    "no object": (b"[[1]]", b"[[1,2]]"),
    "no JSON before": (b'{"a":[1]', b'{"a":[1,2]'),
    "no JSON then": (b'{"a":[1]}', b'{"a":[1,x]}'),
    "another encoding": ('{"a":[1]}'.encode("utf-16"), '{"a":[1,2]}'.encode("utf-16")),
}


@pytest.mark.parametrize("what", GROWS)
def test_a_list_goes_on(what: str) -> None:
    """The value of the next body is that of a whole parse, and shares the entries of the one before."""
    before, then, member = GROWS[what]
    bodies = Bodies()
    old, none = bodies.parse(before)
    new, growth = bodies.parse(then)

    assert none is None
    assert growth is not None
    assert (parsed(then), member, len(old[member])) == (new, growth.member, growth.kept)
    assert growth.before is old
    assert new[member] == [*old[member], *growth.new(new)]
    assert all(one is other for one, other in zip(old[member], new[member], strict=False))


@pytest.mark.parametrize("what", OTHERWISE)
def test_anything_else_is_parsed_whole(what: str) -> None:
    """A body that differs in any other way has the value of a whole parse, and follows from none."""
    before, then = OTHERWISE[what]
    bodies = Bodies()
    bodies.parse(before)

    assert (parsed(then), None) == bodies.parse(then)


@pytest.mark.parametrize(
    "then",
    [b'{"a":[0,2,3]}', b'{"a":[1,2;3]}', b'{"a":[1,2,3],[4]}', b'{"a":[1,2,]}', b'{"a":[1,2,3],"b":4}'],
)
def test_a_list_that_went_on_may_go_on_no_more(then: bytes) -> None:
    """After a list has gone on once, a body that differs in any other way is parsed whole, too."""
    bodies = Bodies()
    bodies.parse(b'{"a":[1]}')

    assert bodies.parse(b'{"a":[1,2]}')[1]
    assert (parsed(then), None) == bodies.parse(then)


def test_another_list_may_go_on() -> None:
    """After a body of another kind, its list goes on."""
    bodies = Bodies()
    raws = [b'{"a":[1]}', b'{"a":[1,2]}', b'{"other":0,"b":[1]}', b'{"other":0,"b":[1,2]}', b'{"other":0,"b":[1,2,3]}']
    parses = [bodies.parse(raw) for raw in raws]

    assert [parsed(raw) for raw in raws] == [value for value, _ in parses]
    assert [None, "a", None, "b", "b"] == [growth and growth.member for _, growth in parses]


def test_a_repeated_body_is_the_same() -> None:
    """A body that comes again is not parsed again."""
    bodies = Bodies()
    first, _ = bodies.parse(b'{"a":[1]}')
    again, growth = bodies.parse(b'{"a":[1]}')

    assert first is again
    assert growth is not None
    assert (None, 0, []) == (growth.member, growth.kept, growth.new(again))


VALUES = st.recursive(
    st.one_of(st.sampled_from([None, True, 1, 1.0, "", "]", '"', ",", "\\", "é", "\ud800"]), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from('a,]"'), inner, max_size=2)),
    max_leaves=5,
)
DUMPS: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"indent": 1}]


@given(st.data())
def test_every_value_is_that_of_a_whole_parse(data: st.DataObject) -> None:
    """Whatever is put into the middle of bodies, each has the value of a whole parse."""
    bodies = Bodies()
    dumps = data.draw(st.sampled_from(DUMPS), label="as JSON")
    body = data.draw(st.dictionaries(st.sampled_from("abc"), st.lists(VALUES, max_size=3), max_size=3), label="body")
    raw = json.dumps(body, **dumps).encode()
    for _ in range(4):
        assert repr(parsed(raw)) == repr(bodies.parse(raw)[0])

        place = data.draw(st.integers(0, len(raw)), label="place")
        ends = [at for at, char in enumerate(raw) if char == ord("]")]
        place = data.draw(st.sampled_from([place, *ends]), label="or at the end of a list")
        entry = json.dumps(data.draw(VALUES, label="entry"), **dumps).encode()
        raw = (
            raw[:place]
            + data.draw(st.sampled_from([b"", b",", b",", b"],", b'],"b":[']), label="before")
            + entry
            + raw[place:]
        )
