"""The deltas of a stream, as a reader of a failure sees them: what it said, in which pieces, in which dress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from looptck.failures.deltas import WIDEST, deltas, encoding_of
from looptck.values.framing import PRESETS, Framing
from looptck.values.turns import Call, Turn, calls, says, turn
from looptck.wires import WIRES

WEATHER = calls(Call("weather", '{"city": "Paris"}'), text="I look.").numbered(1)


def stream(wire: str, said: Turn, framing: Framing = PRESETS["natural"]) -> tuple[bytes, ...]:
    """The writes of a turn."""
    events = WIRES[wire].events(said, 1, framing)
    return tuple(framing.encode_each(events, named=WIRES[wire].named_events))


CHAT = [
    "a delta with only the role",
    'text: "I look."',
    "call 0: name weather, id call_1a",
    'arguments of call 0: "{\\"city\\": \\"Pa" "ris\\"}"',
    "finish_reason tool_calls",
    "usage, without choices",
    "[DONE]",
]
MESSAGES = [
    "message_start",
    "block 0 starts: text",
    "ping",
    'block 0, text: "I look."',
    "block 0 stops",
    "block 1 starts: tool_use weather call_1a",
    'block 1, input_json: "{\\"city\\": \\"Pa" "ris\\"}"',
    "block 1 stops",
    "stop_reason tool_use",
    "message_stop",
]
RESPONSES = ['item 0, output text: "I look."', 'item 1, function call arguments: "{\\"city\\": \\"Pa" "ris\\"}"']


@pytest.mark.parametrize(
    ("wire", "lines"), [("openai-chat", CHAT), ("anthropic-messages", MESSAGES), ("openai-responses", RESPONSES)]
)
def test_what_a_stream_says(wire: str, lines: list[str]) -> None:
    """A line for each thing that is told, its fragments beside each other, and no ids of events."""
    told = deltas(stream(wire, WEATHER), wire, 30)

    assert lines == [line for line in told if line in lines]
    assert [] == [line for line in told if len(line) > WIDEST + 30 or "sequence_number" in line or "object" in line]
    if wire != "openai-responses":
        assert lines == told


def test_a_long_stream_is_cut_in_the_middle() -> None:
    """Its beginning and its end are told, and how much is not."""
    many = turn(*(piece for n in range(20) for piece in (Call("ping", id=f"c{n}"),)))

    told = deltas(stream("openai-chat", many), "openai-chat", 6)

    assert 7 == len(told)
    assert "lines in the middle are omitted" in told[3]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b'data: {"a"\n\n', ['not JSON: "{\\"a\\""']),
        (b"<html>\n\n", ['not JSON: "<html>"']),
        (b'data: {"x": 1}\n\n', ['event: "{\\"x\\": 1}"']),
        (b"data: [1]\n\n", ['event: "[1]"']),
        (b'data: {"error": {"message": "no"}}\n\n', ['error: "{\\"message\\": \\"no\\"}"']),
        (b"data: \xff\n", ['not JSON: "\ufffd"']),
        (b'data: {"choices": [{"delta": {"tool_calls": []}}]}\n\n', ["a delta with tool_calls []"]),
        (b"", []),
    ],
)
def test_what_is_no_event_is_shown_as_it_came(text: bytes, lines: list[str]) -> None:
    """A page, a cut line, a value of no known kind, or an empty list of calls."""
    assert lines == deltas([text], "openai-chat", 30)


def test_an_unknown_wire_has_events_of_no_known_kind() -> None:
    """Its events are shown as they came."""
    assert ['event: "{}"'] == deltas([b"data: {}\n\n"], "of-tomorrow", 30)


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "a byte order mark at the start": lambda text: b"\xef\xbb\xbf" + text,
    "CRLF line ends": lambda text: text.replace(b"\n", b"\r\n"),
    "CR line ends": lambda text: text.replace(b"\n", b"\r"),
    "comments": lambda text: b": ping\n\n" + text,
    "values right behind their colons": lambda text: text.replace(b"data: ", b"data:"),
    "several data lines in one event": lambda text: text.replace(b"data: {", b"data: {\ndata: ", 1),
    "id or retry fields": lambda text: b"id: 1\n" + text,
    "no empty line at the end": lambda text: text.rstrip(b"\n"),
}


@pytest.mark.parametrize("words", ENCODINGS)
def test_an_unusual_dress_is_told(words: str) -> None:
    """What is unusual about the lines is said, and the deltas are what they were."""
    writes = stream("openai-chat", says("Hi."))
    text = ENCODINGS[words](b"".join(writes))

    assert "" == encoding_of(writes)
    assert words == encoding_of([text])
    assert deltas(writes, "openai-chat", 30) == deltas([text], "openai-chat", 30)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("wire", WIRES)
def test_every_framing_can_be_told(wire: str, name: str) -> None:
    """No framing of the suite has an event that is not known."""
    framing = replace(PRESETS[name], unknown_events=False)
    if not WIRES[wire].carries_out(framing):
        return

    told = deltas(stream(wire, WEATHER, framing), wire, 200)

    assert told
    assert [] == [line for line in told if line.startswith(("event:", "not JSON"))]
