"""Recorded replies of Chat Completions: several choices, missing members, second finish reasons."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Stop, calls, says
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.wires.chat.samples import CHAT, CUSTOM, WEATHER, recorded


@pytest.mark.parametrize("streams", [False, True])
def test_custom_calls_are_read(streams: bool) -> None:
    """A call with free text in place of JSON is read back as one, from the body and from the stream."""
    turn = calls(CUSTOM, WEATHER).numbered(1)

    assert recorded(turn) == (CHAT.of_stream if streams else CHAT.of_body)(turn)


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


def choice(index: int, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One choice of a chunk."""
    return {"index": index, "delta": delta, **({} if finish is None else {"finish_reason": finish})}


def stream(*choices: dict[str, Any]) -> str:
    """A stream with a chunk for each of these."""
    return DEFAULT.encode([{"choices": [one]} for one in choices]).decode()
