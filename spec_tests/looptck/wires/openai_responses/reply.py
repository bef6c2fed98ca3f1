"""Reads a recorded reply of the Responses API back into the turn that it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from looptck.turns import Call, Hosted, Piece, Refusal, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.received import events

_STOPS: dict[str, Stop] = {
    "failed": "failed",
    "cancelled": "cancelled",
    "queued": "queued",
    "in_progress": "in_progress",
}
_INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises what reading foreign JSON raises where it says none."""
    response = _last(text) if stream else json.loads(text)
    pieces = tuple(piece for item in response["output"] for piece in _pieces(item))
    return Turn(pieces, _stop(response, pieces))


def _stop(response: dict[str, Any], pieces: tuple[Piece, ...]) -> Stop:
    match response["status"]:
        case "completed":
            return "calls" if any(isinstance(piece, Call) for piece in pieces) else "end"
        case "incomplete":
            return _INCOMPLETE[response["incomplete_details"]["reason"]]
        case status:
            return _STOPS[status]


def _last(text: str) -> dict[str, Any]:
    """The response that the last event of a stream carries; where its items are left out, with those that were done.

    It encrypts thoughts anew. What a client returns is a thought as it was when it was done, so the documentation says;
    that the service would not take the other is not known.
    """
    done: list[tuple[int, dict[str, Any]]] = []
    for event in events(text):
        if event["type"] == "response.output_item.done":
            done.append((event.get("output_index", len(done)), event["item"]))
        elif event["type"] in _LAST:
            response: dict[str, Any] = event["response"]
            thoughts = {item["id"]: item for _, item in done if item["type"] == "reasoning"}
            output = response["output"] or [item for _, item in sorted(done, key=itemgetter(0))]
            return {**response, "output": [_as_done(item, thoughts) for item in output]}
    raise ValueError("no event says how the response ended")


def _as_done(item: dict[str, Any], thoughts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """An item of the last event; a thought as it was when it was done, with the seal that it got now beside."""
    done = thoughts.get(item["id"]) if item["type"] == "reasoning" else None
    return item if done is None else {**done, "sealed_again": item.get("encrypted_content")}


def _pieces(item: dict[str, Any]) -> Iterator[Piece]:
    match item["type"]:
        case "message":
            yield from (_said(part, item) for part in item["content"])
        case "function_call":
            yield Call(item["name"], item["arguments"], item["call_id"], item=item.get("id"))
        case "custom_tool_call":
            yield Call(item["name"], item["input"], item["call_id"], custom=True, item=item.get("id"))
        case "reasoning":
            summary = item["summary"]
            text = "\n\n".join(part["text"] for part in summary)
            seal = item.get("encrypted_content") or ""
            again = item.get("sealed_again")
            yield Thinking(text, not summary, item["id"].removeprefix("rs_"), seal, None if again == seal else again)
        case "web_search_call":
            yield Hosted("search", item["action"]["query"], item["status"] == "completed", item["id"][len("ws_") :])
        case "mcp_call":
            query = json.loads(item["arguments"])["query"]
            yield Hosted("mcp", query, item["status"] == "completed", item["id"][len("mcp_") :])
        case "x_unknown":
            yield Unknown(item["id"])
        case kind:
            raise ValueError(f"no piece of a turn stands for an item of type {kind!r}")


def _said(part: dict[str, Any], item: Mapping[str, Any]) -> Piece:
    if part["type"] == "refusal":
        return Refusal(part["refusal"])
    return Text(part["text"], item.get("phase"), item.get("id"))
