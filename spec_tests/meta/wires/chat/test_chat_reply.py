"""Recorded replies of Chat Completions are read back into the turns that they say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from looptck.framing import NATURAL, Framing, Quirk
from looptck.history import same_arguments
from looptck.spec import strategies
from looptck.turns import Call, Stop, Turn, calls, refuses, says
from looptck.wires.found import NoTurn
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.kit.steady import STEADY

WEATHER = Call.of("weather", {"city": "Zürich"})
TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C.\n\u2028Warm."),
    "nothing": says(None),
    "refusal": refuses("I will not say how warm it is."),
    "calls": calls(WEATHER, Call("ping", ""), WEATHER, text="I look."),
    "broken": calls(Call("add", '{"a": 1, "b": ')),
    "cut": calls(WEATHER, stop="length"),
    "filtered": says("It is", stop="content_filter"),
    "forced": calls(WEATHER, stop="end"),
    "custom": calls(Call("note", "free text, no JSON", custom=True), WEATHER),
}


def plain(turn: Turn, framing: Framing = NATURAL) -> Turn:
    """A turn, written as a body and read back."""
    return OPENAI_CHAT.turn(json.dumps(OPENAI_CHAT.body(turn, 1, framing)), False)


def streamed(turn: Turn, framing: Framing = NATURAL) -> Turn:
    """A turn, written as a stream and read back."""
    return OPENAI_CHAT.turn(framing.dress(OPENAI_CHAT.events(turn, 1, framing)).decode(), True)


def same(meant: Turn, heard: Turn) -> None:
    """Assert that a turn was understood; arguments count as values, as servers may send them as such."""
    assert (meant.text, meant.refusal, meant.stopped) == (heard.text, heard.refusal, heard.stopped)
    assert [(call.tool, call.id, call.custom) for call in meant.calls] == [
        (call.tool, call.id, call.custom) for call in heard.calls
    ]
    for one, other in zip(meant.calls, heard.calls, strict=True):
        assert same_arguments(one.arguments, other.arguments)


@pytest.mark.parametrize("name", TURNS)
def test_a_reply_is_read(name: str) -> None:
    """Each turn is read back as it was meant, from the body and from the stream."""
    turn = TURNS[name].numbered(1)

    same(turn, plain(turn))
    same(turn, streamed(turn))


@STEADY
@given(strategies.turns_with_calls(), strategies.framings(OPENAI_CHAT.shapes))
def test_any_stream_is_read(turn: Turn, framing: Framing) -> None:
    """Any turn with calls is read back from its stream in any framing."""
    numbered = turn.numbered(1)

    same(numbered, streamed(numbered, framing))


@pytest.mark.parametrize("quirk", sorted(OPENAI_CHAT.quirks))
@pytest.mark.parametrize("name", ["text", "calls"])
def test_quirks_are_read(name: str, quirk: Quirk) -> None:
    """What servers of this wire were seen to do can be recorded too."""
    turn = TURNS[name].numbered(1)

    same(turn, streamed(turn, NATURAL.but(quirk=quirk)))
    same(turn, plain(turn, NATURAL.but(quirk=quirk)))


def test_the_first_choice_counts() -> None:
    """Where a caller asked for several choices, the others are not mixed into the first."""
    choices = [choice(1, content="No."), choice(0, content="Ye"), choice(1, content=" No."), choice(0, content="s.")]
    ends = [choice(index, "stop") for index in (1, 0)]
    whole = [{"index": at, "message": {"content": text}, "finish_reason": "stop"} for at, text in enumerate("ab")]

    assert says("Yes.", stop="end") == OPENAI_CHAT.turn(stream(*choices, *ends), True)
    assert says("a", stop="end") == OPENAI_CHAT.turn(json.dumps({"choices": whole}), False)


def test_what_is_left_out_is_nothing() -> None:
    """Members that are null or not there say nothing: the service's types allow it, and servers were seen to do it."""
    named = {"id": "a", "function": {"name": "ping", "arguments": None}}
    deltas = [{"index": 0}, choice(0, tool_calls=[named]), choice(0, tool_calls=[{"function": {}}])]
    whole = {"message": {"tool_calls": [named]}, "finish_reason": "tool_calls"}
    turn = calls(Call("ping", "", "a"), stop="calls")

    assert turn == OPENAI_CHAT.turn(stream(*deltas, choice(0, "tool_calls")), True)
    assert turn == OPENAI_CHAT.turn(json.dumps({"choices": [whole]}), False)


def test_the_first_finish_reason_holds() -> None:
    """A second finish reason, which some servers send, changes nothing."""
    ends: list[Stop] = ["length", "end"]

    assert ends[0] == OPENAI_CHAT.turn(stream(choice(0, "length"), choice(0, "stop")), True).stop


@pytest.mark.parametrize(
    ("text", "streams"),
    [
        ("", False),
        ("[]", False),
        ('{"error": {"message": "No."}}', False),
        ('{"choices": [{"message": {"content": "x"}, "finish_reason": "eos"}]}', False),
        ('{"choices": [{"message": {"content": [{"type": "thinking"}]}, "finish_reason": "stop"}]}', False),
        ('{"choices": [{"finish_reason": "content_filter"}]}', False),
        (
            '{"choices": [{"message": {"function_call": {"name": "f", "arguments": ""}}, "finish_reason": "stop"}]}',
            False,
        ),
        ("", True),
        ('data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n', True),
        (
            'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: {"error": {"message": "No."}}\n\n',
            True,
        ),
        ('data: {"choices": [{"delta": {"function_call": {"name": "f"}}, "finish_reason": "stop"}]}\n\n', True),
    ],
)
def test_what_says_no_turn(text: str, streams: bool) -> None:
    """A body that is no reply, is not over, or says what no turn can, raises the one error that is announced."""
    with pytest.raises(NoTurn):
        OPENAI_CHAT.turn(text, streams)


def choice(index: int, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One choice of a chunk."""
    return {"index": index, "delta": delta, **({} if finish is None else {"finish_reason": finish})}


def stream(*choices: dict[str, Any]) -> str:
    """A stream with a chunk for each of these."""
    return NATURAL.dress([{"choices": [one]} for one in choices]).decode()
