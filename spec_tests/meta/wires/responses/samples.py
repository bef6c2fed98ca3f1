"""Turns and framings for the tests of the wire ``openai-responses``."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from looptck.spec import strategies
from looptck.values.framing import PRESETS, Framing
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
from looptck.wires.openai_responses import OPENAI_RESPONSES

WEATHER = Call.of("weather", {"city": "Zürich"})
NOTE = Call("note", "free text, no JSON", custom=True)
STOPS: tuple[Stop, ...] = (
    "end",
    "calls",
    "length",
    "content_filter",
    "failed",
    "cancelled",
    "queued",
    "in_progress",
)
TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C.\n\u2028Warm."),
    "empty": says(""),
    "nothing": says(None),
    "phased": turn(Text("I look.", phase="commentary"), Text("It is 18 °C.", phase="final_answer")),
    "refusal": refuses("I will not say how warm it is."),
    "call": calls(WEATHER),
    "text-and-calls": calls(WEATHER, Call("ping", ""), Call("ping"), Call("add", '{"a": 1, "b": '), text="I look."),
    "custom-calls": calls(NOTE, WEATHER, NOTE),
    "thinking": turn(Thinking("Where is that?"), Thinking("Secret.", redacted=True), WEATHER),
    "hosted": turn(Hosted(), Hosted("mcp"), WEATHER, "Done."),
    "hosted-under-way": turn(Hosted(done=False), Hosted("mcp", done=False), WEATHER),
    "unknown": turn("First.", Unknown(), WEATHER, Unknown()),
    "call-before-text": turn(WEATHER, "I looked."),
    **{f"text-{stop}": says("It is", stop=stop) for stop in STOPS},
    **{f"call-{stop}": calls(WEATHER, text="I look.", stop=stop) for stop in STOPS},
}
KNOWN = {name: turn for name, turn in TURNS.items() if not any(isinstance(piece, Unknown) for piece in turn.pieces)}
"""Those of them whose pieces the official SDK has a name for."""

FRAMINGS: dict[str, Framing] = {
    name: framing for name, framing in PRESETS.items() if OPENAI_RESPONSES.carries_out(framing)
}

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
_STOPS = st.sampled_from([None, *STOPS])
_KNOWN_PIECES: SearchStrategy[Piece] = st.one_of(
    st.builds(Text, _TEXTS, st.sampled_from([None, "commentary", "final_answer"])),
    st.builds(Refusal, _TEXTS),
    strategies.calls(),
    st.builds(Call, st.sampled_from(strategies.TOOLS), _TEXTS, custom=st.booleans()),
    st.builds(Thinking, _TEXTS, st.booleans()),
    st.builds(Hosted, st.sampled_from(["search", "mcp"]), _TEXTS, st.booleans()),
)


def turns() -> SearchStrategy[Turn]:
    """Any turn that the wire can say."""
    return _turns(_KNOWN_PIECES | st.builds(Unknown))


def known_turns() -> SearchStrategy[Turn]:
    """Any turn whose pieces the official SDK has a name for."""
    return _turns(_KNOWN_PIECES)


def framings() -> SearchStrategy[Framing]:
    """Any legal framing of the wire."""
    return strategies.framings(OPENAI_RESPONSES.layouts)


def _turns(pieces: SearchStrategy[Piece]) -> SearchStrategy[Turn]:
    return st.builds(Turn, st.lists(pieces, max_size=5).map(tuple), _STOPS)
