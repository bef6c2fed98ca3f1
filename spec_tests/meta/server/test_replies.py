"""Replies as checks read them: what the kit's own encoders write, what a server adds, and what is no reply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.client import Progress, Reply
from looptck.bench.client.events import Reader
from looptck.values.framing import DEFAULT
from looptck.values.transcript import ServerEvent
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

TURNS = {
    "text": says("Done, “friend”."),
    "call": calls(Call.of("weather", {"city": "Łódź"})),
    "text and calls": calls(Call.of("ping"), Call.of("weather", {"city": "Oslo"}), text="I look."),
}
CALLING = {"type": "agentic_tool_call_progress", "round": 0, "tool_name": "ping", "phase": "calling", "data": {"a": 1}}
FILE = {"id": "file_1", "name": "a.csv"}


def plain(wire: str, body: Any, status: int = 200) -> Reply:
    """A plain reply of this body, or of these bytes."""
    return Reply(wire, stream=False, status=status, raw=body if isinstance(body, bytes) else json.dumps(body).encode())


def streamed(wire: str, *events: tuple[str, Any]) -> Reply:
    """A stream of these events."""
    return Reply(wire, stream=True, status=200, events=[ServerEvent(0.0, name, value) for name, value in events])


def spoken(wire: str, turn: Turn) -> list[tuple[str, Any]]:
    """The events in which a service says a turn."""
    whole = WIRES[wire].events(turn.numbered(1), 1, DEFAULT)
    encoded = b"".join(DEFAULT.encode_each(whole, named=WIRES[wire].named_events))
    return list(Reader().feed(encoded))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_is_read(wire: str, turn: str) -> None:
    """Plain and streamed, on all wires, text and calls come out as they were said."""
    said = TURNS[turn].numbered(1)

    for reply in (plain(wire, WIRES[wire].body(said, 1, DEFAULT)), streamed(wire, *spoken(wire, said))):
        assert said.text == reply.text
        assert said.calls == reply.turn.calls
        assert reply.ok


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_stream_has_ended(wire: str) -> None:
    """The end that the wire defines has to come, once, with nothing behind it."""
    events = spoken(wire, TURNS["text"])

    assert streamed(wire, *events).ended
    assert not streamed(wire, *events[:-1]).ended
    assert not streamed(wire, *events, events[-1]).ended
    assert not streamed(wire, *events, ("agentic_tool_call_progress", CALLING)).ended
    assert not streamed(wire).ended


@pytest.mark.parametrize("wire", ["anthropic-messages", "openai-responses"])
def test_an_end_marker_too_many_is_let_pass(wire: str) -> None:
    """Some servers send the marker of Chat Completions behind the end of other wires."""
    assert streamed(wire, *spoken(wire, TURNS["text"]), ("", "[DONE]")).ended


@pytest.mark.parametrize("wire", WIRES)
def test_what_breaks_off_has_not_ended(wire: str) -> None:
    """A stream that was cut has not ended, whatever stood last in it."""
    reply = streamed(wire, *spoken(wire, TURNS["text"]))
    reply.broken = "ReadError"

    assert not reply.ended
    assert not reply.ok
    with pytest.raises(NotReached, match="the reply has no turn: status 200, ReadError"):
        _ = reply.turn


@pytest.mark.parametrize("wire", WIRES)
def test_events_of_the_server_are_beside_the_turn(wire: str) -> None:
    """Progress, files and approvals are told apart from the wire's own events, with their places."""
    first, *others = spoken(wire, TURNS["text"])
    reply = streamed(wire, first, ("agentic_tool_call_progress", CALLING), ("file_produced", FILE), *others)

    assert TURNS["text"].text == reply.text
    assert [Progress(1, 0, "ping", "calling", {"a": 1})] == reply.progress
    assert [FILE] == reply.files
    assert reply.ended


@pytest.mark.parametrize(
    ("wire", "events"),
    [
        ("openai-chat", [("", {"error": {"message": "It broke."}}), ("", "[DONE]")]),
        ("anthropic-messages", [("error", {"type": "error", "error": {"message": "It broke."}})]),
        ("openai-responses", [("error", {"type": "error", "message": "It broke."})]),
        ("openai-responses", [("response.failed", {"response": {"error": {"message": "It broke."}}})]),
    ],
)
def test_errors_in_streams(wire: str, events: list[tuple[str, Any]]) -> None:
    """Each wire's own way of telling an error in a stream is an error."""
    reply = streamed(wire, *events)

    assert "It broke." in (reply.error or "")
    assert not reply.ok
    assert str(reply).startswith("an error, status 200: ")


def test_errors_of_plain_replies() -> None:
    """Any other status is an error, in the words of its body, be they JSON or not."""
    reply = plain("openai-chat", b"<html>Bad \xff Gateway", status=502)

    assert "<html>Bad \ufffd Gateway" == reply.error
    with pytest.raises(NotReached, match="is no JSON"):
        _ = reply.body


def test_what_a_plain_reply_tells() -> None:
    """Session, usage, records, files and finish reason stand at the top or in the choice."""
    body = WIRES["openai-chat"].body(TURNS["text"], 1, DEFAULT) | {
        "session_id": "s",
        "usage": {"total_tokens": 3},
        "agentic_tool_calls": [{"round": 0}],
        "files": [FILE],
    }
    reply = plain("openai-chat", body)

    assert ("s", {"total_tokens": 3}, "stop") == (reply.session, reply.usage, reply.finish)
    assert ([{"round": 0}], [FILE]) == (reply.records, reply.files)
    assert "a plain reply, status 200" == str(reply)


def test_what_is_not_told_is_none() -> None:
    """A bare reply names no session, no usage, no records and no files."""
    reply = plain("openai-chat", {"choices": []})

    assert (None, {}, [], [], None) == (reply.session, reply.usage, reply.records, reply.files, reply.finish)


@pytest.mark.parametrize(
    ("wire", "events"),
    [
        ("openai-chat", [{"usage": None, "session_id": None}, {"usage": {"total_tokens": 3}, "session_id": "s"}, {}]),
        ("openai-responses", [{"response": {"usage": {"total_tokens": 3}, "session_id": "s"}}]),
        ("anthropic-messages", [{"message": {"session_id": "s"}}, {"usage": {"total_tokens": 3}}]),
    ],
)
def test_what_a_stream_tells_last_holds(wire: str, events: list[dict[str, Any]]) -> None:
    """Members are those of the last event that has them, at its top or in its response or message."""
    reply = streamed(wire, *(("", event) for event in events))

    assert ("s", {"total_tokens": 3}) == (reply.session, reply.usage)


def test_the_finish_of_a_stream_is_the_last() -> None:
    """Of several chunks the last one that says why the model stopped holds."""
    chunks = [{"choices": [{"finish_reason": reason}]} for reason in ("tool_calls", None, "stop", None)]

    assert "stop" == streamed("openai-chat", *(("", chunk) for chunk in chunks)).finish


ODD: list[Any] = [None, 1, "text", [], [1], {}, {"choices": 1}, {"choices": [1]}, {"response": "x", "message": 2}]
"""What no server should write."""


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("wire", WIRES)
def test_odd_replies_are_no_fault_of_the_kit(wire: str, odd: Any) -> None:
    """What a server should not write is told as nothing, or as not reached, and raises nothing else."""
    for reply in (plain(wire, odd), streamed(wire, ("", odd), ("agentic_tool_call_progress", odd))):
        found = (reply.session, reply.usage, reply.error, reply.finish, reply.files, reply.ended)
        try:
            said = reply.turn.calls
        except NotReached:
            said = ()

        assert (None, {}, None, None, [], False) == found
        assert () == said


@pytest.mark.parametrize("odd", [1, "text", [1], {"a": 1}], ids=repr)
def test_odd_members_are_no_fault_of_the_kit(odd: Any) -> None:
    """A member that is not of its type is told as none."""
    names = ("usage", "session_id", "agentic_tool_calls", "files")
    reply = plain("openai-chat", {"choices": [], **dict.fromkeys(names, odd)})

    told = (reply.usage, reply.session, reply.records, reply.files)

    assert (odd if isinstance(odd, dict) else {}, odd if isinstance(odd, str) else None, [], []) == told


def test_an_event_of_nobody_is_none_of_the_wire() -> None:
    """A named event that no document knows is passed over; a chunk is read under any name."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}

    reply = streamed("openai-chat", ("agentic_warning", {"message": "m"}), ("chunk", chunk), ("", "[DONE]"))

    assert [chunk] == [event.value for event in reply.own]
    assert "Hi." == reply.text
