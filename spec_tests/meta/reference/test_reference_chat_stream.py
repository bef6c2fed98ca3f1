"""Chat Completions: streams become turns."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference import OPENAI_CHAT, MalformedReply, ProviderError, Stop, StreamBroken, ToolCall, Turn
from looptck_reference.http.reception import Reception
from looptck_reference.wires.openai_chat_stream import ChatStream
from meta.reference.reference_replies import Json, delta, piece, pieces, sse

END = delta(finish="tool_calls")


def turn_of(*events: Json) -> Turn:
    """The turn that these events make."""
    stream = ChatStream()
    for event in events:
        stream.add(json.dumps(event))
    return stream.close()


def calls_of(*events: Json) -> list[tuple[str, str, str]]:
    """The calls that these events make."""
    return [(call.id, call.name, call.arguments) for call in turn_of(*events, END).calls]


A = ("a", "ping", '{"n":1}')
B = ("b", "pong", '{"n":2}')
FIRST_A: Json = {"call_id": "a", "name": "ping"}
FIRST_B: Json = {"call_id": "b", "name": "pong"}


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        pytest.param([pieces(piece('{"n":1}', **FIRST_A))], [A], id="whole"),
        pytest.param([pieces(piece("", **FIRST_A)), pieces(piece('{"n"')), pieces(piece(":1}"))], [A], id="pieces"),
        pytest.param(
            [pieces(piece('{"n"', **FIRST_A)), pieces(piece(":1}", call_id="a", name="ping"))], [A], id="id-repeated"
        ),
        pytest.param([pieces(piece('{"n"', **FIRST_A)), pieces(piece(":1}", call_id="a"))], [A], id="only-id-repeated"),
        pytest.param(
            [pieces(piece('{"n":1}', **FIRST_A)), pieces(piece('{"n":2}', **FIRST_B))], [A, B], id="one-index-two-ids"
        ),
        pytest.param(
            [
                pieces(piece("", index=None, **FIRST_A)),
                pieces(piece('{"n":1}', index=None)),
                pieces(piece("", index=None, **FIRST_B)),
                pieces(piece('{"n":2}', index=None)),
            ],
            [A, B],
            id="index-missing",
        ),
        pytest.param(
            [pieces(piece('{"n"', index=1, **FIRST_A)), pieces(piece(":1}", index=1))], [A], id="first-index-1"
        ),
        pytest.param(
            [
                pieces(piece('{"n"', index=0, **FIRST_A)),
                pieces(piece('{"n"', index=1, **FIRST_B)),
                pieces(piece(":1}", index=0)),
                pieces(piece(":2}", index=1)),
            ],
            [A, B],
            id="interleaved",
        ),
        pytest.param(
            [pieces(piece('{"n":1}', index=0, **FIRST_A), piece('{"n":2}', index=1, **FIRST_B))],
            [A, B],
            id="one-delta",
        ),
        pytest.param([pieces(piece('{"n":1}', **FIRST_A)), pieces(piece(index=1))], [A], id="last-one-says-nothing"),
        pytest.param(
            [pieces(piece(call_id="a", name="pi")), pieces(piece(name="ng")), pieces(piece('{"n":1}'))],
            [A],
            id="name-in-pieces",
        ),
        pytest.param(
            [pieces(piece(call_id="a", name="la")), pieces(piece(name="la")), pieces(piece("{}"))],
            [("a", "lala", "{}")],
            id="name-in-equal-pieces",
        ),
        pytest.param([pieces(piece('{"n"', **FIRST_A)), pieces(piece(":1}", index=None))], [A], id="index-only-first"),
        pytest.param([pieces(piece(name="ping")), pieces(piece('{"n":1}', call_id="a"))], [A], id="id-late"),
        pytest.param(
            [pieces(piece("1", index=0, call_id="a", name="x")), pieces(piece("2", index=1, call_id="a", name="x"))],
            [("a", "x", "1"), ("a", "x", "2")],
            id="one-id-two-indexes",
        ),
        pytest.param([pieces(piece(call_id="a", name="ping"))], [("a", "ping", "")], id="no-arguments"),
    ],
)
def test_shapes_of_calls(events: list[Json], calls: list[tuple[str, str, str]]) -> None:
    """What the service does, and what compatible servers do."""
    assert calls == calls_of(*events)


def test_events_without_choices_are_no_turn() -> None:
    """The first event of some servers and the usage event have no choices."""
    turn = turn_of({"choices": []}, delta("x"), delta(finish="stop"), {"choices": [], "usage": {"total_tokens": 3}})

    assert Turn("x", (), Stop.END, {"total_tokens": 3}) == turn


def test_halves_of_a_character_are_joined() -> None:
    """A character that was sent as two halves in two events arrives whole."""
    assert "😀" == turn_of(delta("\ud83d"), delta("\ude00"), delta(finish="stop")).text


def test_nothing_counts_after_the_end_mark() -> None:
    """What follows the end mark belongs to nobody."""
    stream = ChatStream()
    for data in (json.dumps(delta("x", finish="stop")), "[DONE]", "not JSON"):
        stream.add(data)

    assert Turn("x") == stream.close()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ('{"error": {"message": "overloaded"}}', ProviderError),
        ('{"error": "overloaded"}', ProviderError),
        ("{", StreamBroken),
        ("[]", StreamBroken),
        (json.dumps(delta(None, function_call={"name": "old"})), MalformedReply),
        (json.dumps(pieces({"index": 0, "type": "custom", "id": "x"})), MalformedReply),
        (json.dumps(delta(["x"])), MalformedReply),  # type: ignore[arg-type]
    ],
)
def test_bad_events_fail_the_stream(data: str, error: type[Exception]) -> None:
    """An error object, text that is no JSON and calls of other kinds are never passed over."""
    with pytest.raises(error):
        ChatStream().add(data)


CALL = st.tuples(st.text("xyz", min_size=1, max_size=4), st.text('{}":é😀\\ ', max_size=12))


@st.composite
def shaped(draw: st.DrawFn) -> tuple[Turn, list[Json]]:
    """A turn, and one of the many ways to stream it."""
    said = draw(st.lists(CALL, max_size=4), label="calls")
    calls = tuple(ToolCall(f"call_{at}", name, arguments) for at, (name, arguments) in enumerate(said))
    text = draw(st.text("aé😀\u2028", max_size=8), label="text")
    repeats_ids = draw(st.booleans(), label="id in each delta")
    base = draw(st.sampled_from([0, 1]), label="first index")
    queues: list[Iterator[Json]] = [iter([{"content": bit} for bit in draw(cuts(text), label="text")])]
    for index, call in enumerate(calls, base):
        bits = draw(cuts(call.arguments), label="arguments")
        later = {"call_id": call.id} if repeats_ids else {}
        parts = [piece("", index=index, call_id=call.id, name=call.name)]
        parts += [piece(bit, index=index, **later) for bit in bits]
        queues.append(iter([{"tool_calls": [part]} for part in parts]))
    # The calls begin in order, as an index does; what follows comes in any order.
    events = [delta(**next(queue)) for queue in queues[1:]]
    while queues:
        queue = draw(st.sampled_from(queues), label="next")
        if (body := next(queue, None)) is None:
            queues.remove(queue)
        else:
            events.append(delta(**body))
    stop = Stop.CALLS if calls else Stop.END
    return Turn(text, calls, stop), [*events, delta(finish="tool_calls" if calls else "stop")]


@st.composite
def cuts(draw: st.DrawFn, text: str) -> list[str]:
    """The text in pieces, some of which may be empty."""
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in zip([0, *borders], [*borders, len(text)], strict=True)]


@given(shaped(), st.data())
def test_cutting_changes_nothing(case: tuple[Turn, list[Json]], data: st.DataObject) -> None:
    """However the bytes of a stream are cut, they are the same turn and the same text for the caller."""
    turn, events = case
    body = sse(*events)
    borders = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=8), label="borders"))
    reception = Reception(OPENAI_CHAT, lambda _: True)

    spans = zip([0, *borders], [*borders, len(body)], strict=True)
    forwarded = [text for start, end in spans for text in reception.feed(body[start:end])]

    assert turn == reception.close()
    assert turn.text == "".join(told for told in forwarded if isinstance(told, str))
