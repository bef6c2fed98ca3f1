"""Decodes a recorded reply of the Responses API into a turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from looptck.values.turns import Call, Hosted, HostedKind, Piece, Refusal, Served, Stop, Text, Thinking, Turn, Unknown
from looptck.wires.found import Found, NoTurn, body
from looptck.wires.received import events

_STOPS: dict[str, Stop] = {
    "failed": "failed",
    "cancelled": "cancelled",
    "queued": "queued",
    "in_progress": "in_progress",
}
_INCOMPLETE: dict[str, Stop] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_SERVED = frozenset(
    {
        "code_interpreter_call",
        "file_search_call",
        "image_generation_call",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "compaction",
    }
)
"""The items that the service makes by itself and that a loop sends back as they are."""
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})


def turn(text: str, stream: bool) -> Turn:
    """The turn in a body, plain or an event stream. Raises NoTurn if there is none."""
    response = _last(text) if stream else body(text)
    if response["output"].nothing and not response["error"].nothing:
        raise response["error"].but("the reply is an error")
    pieces = tuple(piece for item in response["output"] for piece in _pieces(item))
    return Turn(pieces, _stop(response, pieces))


def _stop(response: Found, pieces: tuple[Piece, ...]) -> Stop:
    match response["status"].text:
        case "completed":
            return "calls" if any(isinstance(piece, Call) for piece in pieces) else "end"
        case "incomplete":
            reason = response["incomplete_details"]["reason"]
            if reason.text not in _INCOMPLETE:
                raise reason.but(f"one of {', '.join(_INCOMPLETE)} was expected")
            return _INCOMPLETE[reason.text]
        case status:
            if status not in _STOPS:
                raise response["status"].but(f"one of completed, incomplete, {', '.join(_STOPS)} was expected")
            return _STOPS[status]


def _last(text: str) -> Found:
    """The response that the last event of a stream carries; where its items are left out, with those that were done.

    It encrypts thoughts again. By the documentation a client returns a thought as it was when it was done; whether the
    service would refuse the other is not known. Where it does not say its status, its event does.
    """
    done: list[tuple[int, Found]] = []
    error: Found | None = None
    for event in events(text):
        kind = event["type"].text_if_any or ""
        if kind == "response.output_item.done":
            place = event["output_index"]
            done.append((len(done) if place.nothing else place.number, event["item"]))
        elif kind in _LAST:
            response = event["response"]
            status = {"status": kind.removeprefix("response.")}
            thoughts = {item["id"].text: item for _, item in done if item["type"].text == "reasoning"}
            output = [*response["output"]] or [item for _, item in sorted(done, key=itemgetter(0))]
            whole = {**status, **response.fields, "output": [_as_done(item, thoughts) for item in output]}
            return Found(whole, response.place)
        elif kind == "error" or not event["error"].nothing:
            error = event
    if error is not None:
        raise error.but("the stream breaks off with an error")
    raise NoTurn("no event has the final status of the response")


def _as_done(item: Found, thoughts: Mapping[str, Found]) -> Mapping[str, Any]:
    """An item of the last event; a thought as it was when it was done, together with the signature that it has now."""
    done = thoughts.get(item["id"].text) if item["type"].text == "reasoning" else None
    return item.fields if done is None else {**done.fields, "final_signature": item["encrypted_content"].text_if_any}


def _pieces(item: Found) -> Iterator[Piece]:
    match item["type"].text:
        case "message":
            yield from (_said(part, item) for part in item["content"])
        case "function_call":
            item_id = item["id"].text_if_any
            yield Call(item["name"].text, item["arguments"].text, item["call_id"].text, item=item_id)
        case "custom_tool_call":
            item_id = item["id"].text_if_any
            yield Call(item["name"].text, item["input"].text, item["call_id"].text, custom=True, item=item_id)
        case "reasoning":
            yield _thought(item)
        case "web_search_call" if item["status"].value != "failed":
            yield _hosted("search", item, item["action"], "ws_")
        case "mcp_call":
            yield _hosted("mcp", item, item["arguments"].parsed, "mcp_")
        case kind if kind in _SERVED or kind == "web_search_call":
            yield _served(item)
        case "x_unknown":
            yield Unknown(item["id"].text)
        case kind:
            raise item.but(f"looptck does not know items of type {kind!r}")


def _said(part: Found, item: Found) -> Piece:
    if part["type"].value == "refusal":
        return Refusal(part["refusal"].text)
    return Text(part["text"].text, item["phase"].text_if_any, item["id"].text_if_any)


def _thought(item: Found) -> Thinking:
    summary = item["summary"].entries
    signature, again = item["encrypted_content"].text_if_any or "", item["final_signature"].text_if_any
    text = "\n\n".join(part["text"].text for part in summary)
    return Thinking(
        text, not summary, item["id"].text.removeprefix("rs_"), signature, None if again == signature else again
    )


def _served(item: Found) -> Served:
    """An item as it is."""
    return Served(json.dumps(item.fields, ensure_ascii=False))


def _hosted(kind: HostedKind, item: Found, wanted: Found, prefix: str) -> Hosted | Served:
    """A tool of the service's that was given a query; any other, such as an opened page, is kept as it is."""
    if not isinstance(wanted.value, dict) or not isinstance(wanted.value.get("query"), str):
        return _served(item)
    query, done = wanted["query"].text, item["status"].value == "completed"
    return Hosted(kind, query, done, item["id"].text.removeprefix(prefix))
