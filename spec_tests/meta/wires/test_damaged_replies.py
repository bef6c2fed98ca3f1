"""Any recorded reply says a turn, or is refused with one error that names the place and the value there."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Hosted, Refusal, Text, Thinking, Turn, Unknown, calls, refuses, says, turn
from looptck.wires import WIRES
from looptck.wires.found import Found, NoTurn

WEATHER = Call.of("weather", {"city": "Zürich"})
RICH = turn(
    "I look.",
    Thinking("Hm."),
    Thinking("", redacted=True),
    Hosted(),
    Hosted("mcp"),
    Unknown(),
    WEATHER,
    Call("ping", ""),
    stop="calls",
)
TURNS: dict[str, tuple[Turn, ...]] = {
    "openai-chat": (calls(WEATHER, Call("note", "x", custom=True), text="I look."), refuses("No.")),
    "openai-responses": (RICH, turn("It is", stop="length"), refuses("No."), turn(Call("n", "x", custom=True))),
    "anthropic-messages": (RICH, turn("It is", Refusal("No."), stop="refusal")),
}
REPLIES: list[tuple[str, bool, Any]] = [
    (name, stream, (wire.events if stream else wire.body)(one.numbered(1), 1, DEFAULT))
    for name, wire in WIRES.items()
    for one in TURNS[name]
    for stream in (False, True)
]
"""Whole replies: the wire, whether it is a stream, and its body or events."""

TYPES = [
    "web_search_call",
    "mcp_call",
    "mcp_tool_use",
    "server_tool_use",
    "web_search_tool_result",
    "reasoning",
    "function_call",
    "tool_use",
    "message",
    "refusal",
    "error",
    "response.failed",
    "response.incomplete",
    "message_start",
    "incomplete",
    "complete",
    "eos",
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.just(0.5) | st.sampled_from(["", "x", "{}", "[1]", *TYPES]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "id", "query", "name", "text", "content", "input", "action", "index"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=5,
)


SAYS_WHERE = re.compile(r"no event|no finish_reason|.*: (the reply|event \d+|/)", re.DOTALL)
"""What an error says: the place behind a colon, or what did not come at all."""


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places in a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in members for place in places(member, (*path, key)))]


def damaged(data: st.DataObject, reply: Any) -> Any:
    """A reply with something else, nothing or a copy of it at some of its places."""
    whole: Any = {"reply": copy.deepcopy(reply)}
    for _ in range(data.draw(st.integers(1, 3), label="damages")):
        *parents, last = data.draw(st.sampled_from(places(whole)[1:]), label="place")
        holder = whole
        for step in parents:
            holder = holder[step]
        done = data.draw(st.sampled_from(["replaced", "removed", "doubled"]), label="done")
        if done == "replaced" or not parents:
            holder[last] = data.draw(JUNK, label="instead")
        elif done == "removed":
            del holder[last]
        elif isinstance(holder, list) and isinstance(last, int):
            holder.append(holder[last])
    return whole["reply"]


def read(name: str, text: str, *, stream: bool) -> None:
    """Read a reply; a turn can be used, and an error says where it was and what was there."""
    try:
        found: Turn | str = WIRES[name].turn(text, stream)
    except NoTurn as error:
        found = str(error)
    if isinstance(found, str):
        assert SAYS_WHERE.match(found), found
        return
    WIRES[name].echo(found.numbered(1))
    hash(found)
    assert all(isinstance(call.tool, str) and isinstance(call.arguments, str) for call in found.calls)
    assert all(isinstance(piece.text, str) for piece in found.pieces if isinstance(piece, Text | Refusal | Thinking))


@given(st.data())
def test_any_damage_is_read_or_refused(data: st.DataObject) -> None:
    """A reply with anything in place of anything is read, or refused with the one error."""
    name, stream, reply = data.draw(st.sampled_from(REPLIES), label="reply")
    broken = damaged(data, reply)

    text = json.dumps(broken)
    if stream:
        events = broken if isinstance(broken, list) else [broken]
        text = "".join(f"data: {event if event == '[DONE]' else json.dumps(event)}\n\n" for event in events)
    read(name, text, stream=stream)


@given(st.sampled_from(list(WIRES)), st.text() | JUNK.map(json.dumps), st.booleans())
def test_any_text_is_read_or_refused(name: str, text: str, stream: bool) -> None:
    """So is any text, and any JSON, alone or as an event."""
    read(name, text, stream=stream)
    read(name, f"data: {text}\n\n", stream=stream)


@given(st.data())
def test_any_half_is_read_or_refused(data: st.DataObject) -> None:
    """So is a reply that ends anywhere."""
    name, stream, reply = data.draw(st.sampled_from(REPLIES), label="reply")
    text = DEFAULT.encode(reply, named=True).decode() if stream else json.dumps(reply)

    read(name, text[: data.draw(st.integers(0, len(text)), label="end")], stream=stream)


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5_000, '"\\ud800"', "NaN", "\ud800"])
def test_extremes_are_refused(name: str, text: str) -> None:
    """Depth, length and halves of characters are nothing to stumble over."""
    read(name, text, stream=False)
    read(name, f"data: {text}\n\n", stream=True)


def _item(**members: object) -> str:
    return json.dumps({"status": "completed", "output": [members]})


def _block(**members: object) -> str:
    return json.dumps({"content": [members], "stop_reason": "end_turn"})


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "openai-responses",
            json.dumps({"status": "incomplete", "output": []}),
            "an object was expected: /incomplete_details is missing",
        ),
        (
            "openai-responses",
            json.dumps({"status": "incomplete", "output": [], "incomplete_details": {"reason": "steered"}}),
            'one of max_output_tokens, content_filter was expected: /incomplete_details/reason is "steered"',
        ),
        (
            "openai-responses",
            json.dumps({"status": "complete", "output": []}),
            'one of completed, incomplete, failed, cancelled, queued, in_progress was expected: /status is "complete"',
        ),
        (
            "openai-responses",
            json.dumps({"error": {"message": "No."}}),
            'the reply is an error: /error is {"message": "No."}',
        ),
        (
            "openai-responses",
            _item(type="computer_call", id="1"),
            'looptck does not know items of type \'computer_call\': /output/0 is {"type": "computer_call", "id": "1"}',
        ),
        (
            "anthropic-messages",
            _block(type="mcp_tool_use", id="mcptoolu_1", name="add", input={"a": 1}, server_name="s"),
            'a hosted tool whose input is a query was expected: /content/0/input is {"a": 1}',
        ),
        ("anthropic-messages", _block(type="text", text=None), "a text was expected: /content/0/text is null"),
        (
            "anthropic-messages",
            json.dumps({"content": [], "stop_reason": None}),
            "a stop_reason was expected: /stop_reason is null",
        ),
        (
            "openai-chat",
            json.dumps({"choices": [{"message": {"content": [{"type": "text"}]}, "finish_reason": "stop"}]}),
            'a text was expected: /choices/0/message/content is [{"type": "text"}]',
        ),
        (
            "openai-chat",
            json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "eos"}]}),
            'length, content_filter was expected: /choices/0/finish_reason is "eos"',
        ),
        ("openai-chat", "{}", "a list was expected: /choices is missing"),
        ("openai-chat", "[]", "an object was expected: the reply is []"),
        ("openai-chat", "No.", 'JSON was expected: the reply is "No.", Expecting value: line 1 column 1 (char 0)'),
    ],
)
def test_what_the_error_says(name: str, text: str, said: str) -> None:
    """The error says what was expected, where, and what is there."""
    with pytest.raises(NoTurn, match=re.escape(said)):
        WIRES[name].turn(text, False)


@pytest.mark.parametrize(
    ("name", "event", "said"),
    [
        (
            "anthropic-messages",
            {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}},
            "a block that had begun was expected: event 1 /index is 3",
        ),
        (
            "anthropic-messages",
            {"type": "error", "error": {"type": "overloaded_error"}},
            "the stream breaks off with an error: event 1 is",
        ),
        ("openai-chat", {"choices": [{"delta": {"content": 1}}]}, "expected: event 1 /choices/0/delta/content is 1"),
        ("openai-responses", {"type": "error", "message": "No."}, "the stream breaks off with an error: event 1"),
        ("openai-responses", {"type": "response.completed"}, "an object was expected: event 1 /response is missing"),
    ],
)
def test_what_the_error_says_of_a_stream(name: str, event: dict[str, Any], said: str) -> None:
    """In a stream the place is in an event."""
    with pytest.raises(NoTurn, match=re.escape(said)):
        WIRES[name].turn(f"data: {json.dumps(event)}\n\n", True)


def test_what_is_long_is_cut() -> None:
    """Of what stands there the beginning is shown."""
    assert "something else: /a is " + json.dumps("x" * 99)[:80] + "…" == str(
        Found("x" * 99, "/a").but("something else")
    )


def test_a_status_may_stand_in_the_name_of_the_event() -> None:
    """A response that does not say its state has that of the event that ends its stream."""
    part = {"type": "output_text", "text": "Hi."}
    event = {"type": "response.completed", "response": {"output": [{"type": "message", "content": [part]}]}}

    assert says("Hi.", stop="end") == WIRES["openai-responses"].turn(f"data: {json.dumps(event)}\n\n", True)
