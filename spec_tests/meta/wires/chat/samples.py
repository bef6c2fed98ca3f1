"""Turns for the tests of the wire ``openai-chat``, and what a reader should take from each."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from looptck.spec import strategies
from looptck.values.framing import PRESETS
from looptck.values.history import spelled
from looptck.values.turns import Call, Refusal, Stop, Turn, calls, refuses, says, turn
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.wires.chat.reader import said, said_plainly
from meta.wires.encoded import EncodedWire
from meta.wires.sse_reader import data_of

WEATHER = Call.of("weather", {"city": "Zürich"})
CUSTOM = Call("note", "free text, no JSON", custom=True)
STOPS: tuple[Stop, ...] = ("end", "calls", "length", "content_filter")
FINISH = {"end": "stop", "calls": "tool_calls", "length": "length", "content_filter": "content_filter"}
TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C.\n\u2028Warm."),
    "empty": says(""),
    "nothing": says(None),
    "refusal": refuses("I will not say how warm it is."),
    "call": calls(WEATHER),
    "text-and-calls": calls(WEATHER, Call("ping", ""), Call("add", '{"a": 1, "b": '), text="I look."),
    "one-call-twice": calls(WEATHER, Call("ping", ""), WEATHER, text="I look."),
    **{f"text-{stop}": says("It is", stop=stop) for stop in STOPS},
    **{f"call-{stop}": calls(WEATHER, stop=stop) for stop in STOPS},
}
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
ANY_TURN = st.builds(
    lambda text, refusal, wanted, stop: turn(*text, *refusal, *wanted, stop=stop),
    st.lists(TEXTS, max_size=1),
    st.lists(st.builds(Refusal, TEXTS), max_size=1),
    st.lists(
        strategies.calls() | st.builds(Call, st.sampled_from(strategies.TOOLS), strategies.argument_texts() | TEXTS),
        max_size=4,
    ),
    st.none() | st.sampled_from(STOPS),
)
ANY_FRAMING = st.builds(
    lambda framing, newline, data_lines, mark, every: framing.but(
        newline=newline, data_lines=data_lines, mark=mark, every=every
    ),
    strategies.framings(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 0, 1, 5]),
)


def meant(turn: Turn) -> dict[str, Any]:
    """What a reader of a numbered turn should take from it."""
    numbered = {
        index: {"id": call.id, "name": call.tool, "arguments": call.arguments} for index, call in enumerate(turn.calls)
    }
    return {"text": turn.text, "refusal": turn.refusal, "calls": numbered, "finish": [FINISH[turn.stopped]]}


def recorded(turn: Turn) -> tuple[object, ...]:
    """What a recorded reply can say of a turn: empty text is none, and arguments count as values."""
    called = [(call.tool, call.id, call.custom, spelled(call.arguments)) for call in turn.calls]
    return turn.text or None, turn.refusal, turn.stopped, called


CHAT = EncodedWire(
    wire=OPENAI_CHAT,
    turns=TURNS,
    streamed_only={},
    framings=PRESETS,
    any_turn=ANY_TURN,
    any_framing=ANY_FRAMING,
    shown_bodies=("text", "refusal", "call", "text-and-calls"),
    shown_streams=("text", "refusal", "call", "text-and-calls"),
    in_body=meant,
    in_stream=meant,
    read_body=said_plainly,
    read_stream=lambda stream: said(data_of(stream)),
    quirks=(),
    quirk_turns=("text", "one-call-twice"),
    other_words=("blank-ids", "object-before-arguments", "no-choices", "choices-null", "finish-unknown"),
    recorded=recorded,
    read_back=recorded,
    no_turn=(
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
    ),
)
