"""Plain and stream agree: the same text, calls, stop, usage, rounds and files, in every API and dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from looptck_reference.http.reception import Reception
from looptck_reference.server import DOCUMENT, TODAY, Callback, Made, Produced, ServerDialect
from looptck_reference.vocabulary.values import Turn
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire
from meta.reference.server.serving import ASKS, Json, World, call, events, turn

CALL = call("weather", {"city": "Paris"})
DRAW = Callback("draw", lambda: Made("drawn", (Produced("a.txt", b"a"),)))
LONG = "A text that is longer than one piece of a stream, with a € and a 😀 in it."
SCRIPTS: dict[str, list[Json]] = {
    "answer": [turn(LONG)],
    "empty": [turn("")],
    "rounds": [turn("Let me see. ", CALL), turn(None, call("draw")), turn(LONG)],
    "several": [turn("Both. ", CALL, call("draw", call_id="call_2")), turn(LONG)],
    "cap": [turn("One. ", CALL), turn("Two. ", CALL), turn("Three. ", CALL, call("draw", call_id="call_2"))],
    "cut": [turn(LONG, finish="length")],
}
DIALECTS = {"document": DOCUMENT, "today": TODAY, "all": replace(DOCUMENT, parallel="all", tool_turn_text="shown")}
WIRES: dict[str, Wire] = {
    "/v1/chat/completions": OPENAI_CHAT,
    "/v1/messages": ANTHROPIC_MESSAGES,
    "/v1/responses": OPENAI_RESPONSES,
}


def read_stream(wire: Wire, content: bytes) -> Turn:
    """The turn of a stream, read by the reference's own wire, which does not know agentic events."""
    reception = Reception(wire, lambda _: True)
    text = "".join(told for told in reception.feed(content) if isinstance(told, str))
    whole = reception.close()
    assert text == whole.text
    return whole


def told(stream: list[tuple[str | None, Any]]) -> tuple[list[Any], list[Any]]:
    """Rounds and names of the executed calls, and the ids of the files without the run's."""
    done = [data for name, data in stream if name == "agentic_tool_call_progress" and data["phase"] == "complete"]
    files = [data["id"].split("_", 2)[2] for name, data in stream if name == "file_produced"]
    return [(one["round"], one["tool_name"]) for one in done], files


@pytest.mark.parametrize("path", ASKS, ids=["chat", "messages", "responses"])
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_plain_and_stream_agree(
    world: Callable[..., World], path: str, dialect: ServerDialect, script: list[Json]
) -> None:
    """As the reference's own wires read both."""
    here = world(*script, *script, callbacks=(DRAW,), dialect=dialect)
    wire, request = WIRES[path], {"model": "m", "max_tool_rounds": 2, **ASKS[path]}

    plain = here.request("POST", path, json=request).json()
    here.outside.turns.clear()
    here.outside.plays(*script)
    stream = here.request("POST", path, json={**request, "stream": True}).content

    one, other = wire.decode(plain), read_stream(wire, stream)
    assert (one.text, one.stop, one.usage) == (other.text, other.stop, other.usage)
    assert _calls(one) == _calls(other)
    ran = [(entry["round"], entry["name"]) for entry in plain["agentic_tool_calls"]]
    assert (ran, [file["id"].split("_", 2)[2] for file in plain.get("files", ())]) == told(events(stream))


@pytest.mark.parametrize("path", ASKS, ids=["chat", "messages", "responses"])
def test_half_a_surrogate_pair_is_told_in_both(world: Callable[..., World], path: str) -> None:
    """JSON has it as an escape, and UTF-8 has it not; a session has it too."""
    reply = httpx.Response(200, content=json.dumps(turn("half \ud83d")).encode())
    here = world(reply, reply)

    plain = here.request("POST", path, json={"model": "m", "session_id": "s", **ASKS[path]})
    stream = here.request("POST", path, json={"model": "m", "stream": True, **ASKS[path]})

    told = [response.content for response in (plain, stream, here.request("GET", "/v1/sessions/s"))]
    assert [True] * 3 == [b"half \\ud83d" in content for content in told]


def _calls(one: Turn) -> list[tuple[str, str, Any]]:
    return [(call.id, call.name, json.loads(call.arguments)) for call in one.calls]
