"""Runs whose histories grow step by step: mostly by what a loop adds, sometimes in any other way."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Hosted, Thinking, Turn, Unknown, turn
from looptck.wires import WIRES
from meta.judge.damage import OTHERS
from meta.judge.judged import Body, History, JudgedWire

WAYS = (*["go on"] * 4, "refer", "repeat", "add", "add", "change", "drop", "insert", "cut", "options", "forget")
"""What may happen before a request; what loops do comes up most."""
PIECES = st.one_of(
    st.sampled_from(["a", "json", " "]),
    st.just(Call.of("f")),
    st.just(Call.of("f", id="again")),
    st.just(Call("f", item="fc_again")),
    st.sampled_from([Thinking("hm"), Thinking("", redacted=True), Thinking("again", id="one")]),
    st.just(Thinking("hum", recorded_signature="again")),
    st.sampled_from([Hosted(), Unknown("u")]),
)
TURNS = st.lists(PIECES, min_size=1, max_size=3).map(lambda pieces: turn(*pieces))
OPTIONS: dict[str, list[Body]] = {
    "openai-chat": [{}, {"response_format": {"type": "json_object"}}, {"tool_choice": "auto"}, {"n": 1}],
    "openai-responses": [
        {},
        {"store": False},
        {"text": {"format": {"type": "json_object"}}},
        {"previous_response_id": "resp_looptck0000000000000001"},
        {"prompt": {"id": "p"}},
        {"instructions": "Be good."},
    ],
    "anthropic-messages": [
        {},
        {"system": "Be good."},
        {"thread": {"type": "create"}},
        {"mcp_servers": [{"type": "url", "name": "m", "url": "https://m.example/sse"}], "tools": [{"name": "f"}]},
    ],
}
DUMPS = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}, {"sort_keys": True}])


@dataclass(frozen=True, slots=True)
class Sent:
    """A request, and what the service did after it."""

    raw: bytes
    headers: dict[str, str]
    reply: Turn | None
    """The turn with which it was answered, if it had no problem."""
    forgets: bool
    """Whether the service has lost its state before it."""


def echoed(wire: JudgedWire, reply: Turn, n: int) -> History:
    """A reply as a loop appends it, with a result for each call."""
    body = WIRES[wire.name].body(reply, n, DEFAULT)
    match wire.name:
        case "openai-chat":
            message = body["choices"][0]["message"]
            calls = message.get("tool_calls", ())
            return [message, *({"role": "tool", "tool_call_id": one["id"], "content": "done"} for one in calls)]
        case "openai-responses":
            calls = [one["call_id"] for one in body["output"] if one["type"] == "function_call"]
            outputs = [{"type": "function_call_output", "call_id": id, "output": "done"} for id in calls]
            return [*body["output"], *outputs]
        case _:
            calls = [one["id"] for one in body["content"] if one["type"] == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": id, "content": "done"} for id in calls]
            return [
                {"role": "assistant", "content": body["content"]},
                {"role": "user", "content": results or "Go on."},
            ]


@st.composite
def runs(draw: st.DrawFn, wire: JudgedWire) -> list[Sent]:
    """The requests of a run."""
    return list(_run(draw, wire))


def _run(draw: st.DrawFn, wire: JudgedWire) -> Iterator[Sent]:
    dumps: Any = draw(DUMPS, label="as JSON")
    history: History = draw(st.one_of(wire.legal, st.just(wire.request()[wire.history])), label="history")
    options: Body = {}
    last: Turn | None = None
    for n in range(1, draw(st.integers(2, 7), label="requests") + 1):
        way = draw(st.sampled_from(WAYS), label="what happens") if n > 1 else "repeat"
        if way == "options":
            options = draw(st.sampled_from(OPTIONS[wire.name]), label="options")
        history = _next(draw, wire, way, history, echoed(wire, last, n - 1) if last else [])
        raw = json.dumps(wire.request(*history, **options), **dumps).encode()
        last = draw(TURNS, label="reply").numbered(n)
        betas = draw(st.sampled_from(["", "", "", "mcp-client-2025-04-04"]), label="betas")
        yield Sent(raw, {"anthropic-beta": betas}, last, way == "forget")


def _next(draw: st.DrawFn, wire: JudgedWire, way: str, history: History, said: History) -> History:
    """The history of the next request."""
    if way == "go on":
        return history + (said or draw(wire.legal, label="more"))
    if way == "refer":
        return history + [_reference(one) for one in said or draw(wire.legal, label="more")]
    if way == "add":
        wrong = st.sampled_from(wire.mutations).flatmap(
            lambda mutate: wire.marked.map(lambda one: mutate(*copy.deepcopy(one))[0])
        )
        kept = draw(st.sampled_from([said, []]), label="reply kept")
        return [*history, *kept, *draw(st.one_of(wrong, st.lists(wire.values, max_size=2)), label="added")]
    if not history or way in ("repeat", "options", "forget"):
        return history
    place = draw(st.integers(0, len(history) - 1), label="place")
    match way:
        case "drop":
            return history[:place] + history[place + 1 :] + said
        case "insert":
            return history[:place] + draw(wire.legal, label="inserted") + history[place:] + said
        case "cut":
            return history[: place + 1]
        case _:
            return [*history[:place], _damaged(draw, history[place]), *history[place + 1 :], *said]


def _reference(item: Any) -> Any:
    """An item of Responses as a reference to it, if it has an id; any other entry as it is."""
    is_item = isinstance(item, dict) and "id" in item and "type" in item
    return {"type": "item_reference", "id": item["id"]} if is_item else item


def _damaged(draw: st.DrawFn, entry: Any) -> Any:
    """An entry with one member changed, perhaps to something that only Python takes for equal."""
    if not isinstance(entry, dict) or not entry:
        return draw(st.sampled_from(list(OTHERS.values())), label="other entry")
    name = draw(st.sampled_from(sorted(entry)), label="member")
    return {**entry, name: draw(st.sampled_from([*OTHERS.values(), 1, 1.0, "assistant", "user"]), label="value")}
