"""Turns for the tests of the Messages encoder, named and any, and what a reader should come to with each."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from looptck.spec import strategies
from looptck.values.framing import PRESETS
from looptck.values.turns import (
    Call,
    Hosted,
    Piece,
    Refusal,
    Stop,
    Text,
    Thinking,
    Turn,
    Unknown,
    calls,
    refuses,
    says,
    turn,
)
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.messages.reader import value_of

WORDS: dict[Stop, str] = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "context_window": "model_context_window_exceeded",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "pause": "pause_turn",
    "compaction": "compaction",
}
WEATHER = Call.of("weather", {"city": "Zürich"})
TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C.\n\u2028Warm."),
    "texts": turn("It is ", "18 °C."),
    "empty": says(""),
    "nothing": says(None),
    "refusal": refuses("I will not say how warm it is."),
    "refusal-after-text": turn("It is", Refusal("No.")),
    "refusal-without-words": turn(WEATHER, stop="refusal"),
    "call": calls(WEATHER),
    "text-and-calls": calls(WEATHER, Call("ping", ""), Call("ping", "{}"), Call.of("add", {"a": 1}), text="I look."),
    "text-between-calls": turn("First.", WEATHER, "Then.", Call.of("add", {"a": 1, "b": 2})),
    "one-id-twice": calls(Call("ping", id="x"), Call.of("add", {"a": 1}, id="x")),
    "thinking": turn(Thinking("Warm, I think."), Thinking("", redacted=True), Thinking(""), WEATHER),
    "search": turn(Hosted(), "It is warm."),
    "search-under-way": turn("I search.", Hosted(done=False), WEATHER),
    "mcp": turn(Hosted("mcp"), Hosted("mcp", "rain", done=False), stop="pause"),
    **{f"text-{stop}": says("It is", stop=stop) for stop in WORDS},
    **{f"call-{stop}": calls(WEATHER, stop=stop) for stop in WORDS},
}
FRAMINGS = {name: framing for name, framing in PRESETS.items() if ANTHROPIC_MESSAGES.carries_out(framing)}
"""The named framings that mean something on this wire."""

CUT = calls(WEATHER, Call("add", '{"a": 1, "b": "tw'), stop="length")
"""A turn that stops in the middle of a call."""
BROKEN = calls(Call("add", "{'a': 1}"))
"""A call whose arguments are no JSON."""
STRANGE = turn("Hm.", Unknown(), WEATHER, Unknown(), stop="unknown")
"""A turn with what no documentation names: pieces and a stop reason."""

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
PIECES: st.SearchStrategy[Piece] = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Call, st.sampled_from(strategies.TOOLS), strategies.argument_texts() | st.just("")),
    st.builds(Thinking, TEXTS, st.booleans()),
    st.builds(Hosted, st.sampled_from(["search", "mcp"]), TEXTS, st.booleans()),
)
ANY_TURN = st.builds(
    lambda pieces, refusal, stop: Turn((*pieces, *refusal), "refusal" if refusal else stop),
    st.lists(PIECES, max_size=6),
    st.lists(st.builds(Refusal, TEXTS), max_size=1),
    st.none() | st.sampled_from(list(WORDS)),
)
ANY_FRAMING = st.builds(
    lambda framing, newline, data_lines, every: framing.but(newline=newline, data_lines=data_lines, every=every),
    strategies.framings(ANTHROPIC_MESSAGES.layouts),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from([0, 0, 1, 5]),
)


def meant(turn: Turn, *, over: bool = True) -> dict[str, Any]:
    """What a reader of a numbered turn should come to; not ``over``: all but how it ended."""
    content = [block for piece in turn.pieces for block in _blocks(piece)]
    stop = "refusal" if turn.stop is None and turn.refusal is not None else turn.stopped
    ending = {
        "stop_reason": WORDS.get(stop, "looptck_unknown"),
        "stop_sequence": "\n\nlooptck" if stop == "stop_sequence" else None,
        "stop_details": _details(turn.refusal) if stop == "refusal" else None,
    }
    head = ending if over else {"stop_reason": None}
    return {**head, "stopped": set(range(len(content))), "over": over, "content": content}


def _details(words: str | None) -> dict[str, Any]:
    return {"type": "refusal", "category": None if words is None else "general_harms", "explanation": words}


def _blocks(piece: Piece) -> list[dict[str, Any]]:
    direct = {"caller": {"type": "direct"}}
    match piece:
        case Text(text):
            return [{"type": "text", "text": text}]
        case Call(tool, arguments, id):
            return [{"type": "tool_use", "id": id, "name": tool, "input": value_of(arguments), **direct}]
        case Thinking():
            if piece.redacted:
                return [{"type": "redacted_thinking", "data": piece.signature}]
            return [{"type": "thinking", "thinking": piece.text, "signature": piece.signature}]
        case Hosted(kind, query, done, id):
            named: dict[str, Any] = {"type": "server_tool_use", "id": f"srvtoolu_{id}", "name": "web_search", **direct}
            if kind == "mcp":
                named = {"type": "mcp_tool_use", "id": f"mcptoolu_{id}", "name": "search", "server_name": "looptck"}
            return [{**named, "input": {"query": query}}, *([_result(kind, query, id)] if done else [])]
        case Unknown(id):
            return [{"type": "x_unknown", "id": id}]
    return []


def _result(kind: str, query: str, id: str | None) -> dict[str, Any]:
    if kind == "mcp":
        content = [{"type": "text", "text": f"Found: {query}"}]
        return {"type": "mcp_tool_result", "tool_use_id": f"mcptoolu_{id}", "is_error": False, "content": content}
    return {
        "type": "web_search_tool_result",
        "tool_use_id": f"srvtoolu_{id}",
        "content": [
            {
                "type": "web_search_result",
                "title": f"Found: {query}",
                "url": "https://looptck.example/found",
                "encrypted_content": "bG9vcHRjaw==",
                "page_age": None,
            }
        ],
        "caller": {"type": "direct"},
    }
