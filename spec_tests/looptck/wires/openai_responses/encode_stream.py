"""Encodes a turn as the events that the Responses API would stream.

The default layout is what the service was seen to send: the response is created and in progress, each item is added
empty, grows by deltas, is repeated whole, and is done; one last event carries the whole response. Everything else
is asked for by the framing.

There are last events for three states only. A response that was cancelled, or that is not over when the connection
ends, has none: its stream stops after the items that there were; one that is queued has no items yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, groupby
from typing import Any

from looptck.values.framing import Framing
from looptck.values.turns import Turn
from looptck.wires.fragments import parts, taking_turns
from looptck.wires.openai_responses.encode import SERVER_ERROR, UNKNOWN, body, tool_usage

_Event = dict[str, Any]

_LAST = frozenset({"completed", "incomplete", "failed"})
_TERMINAL = frozenset(f"response.{status}" for status in _LAST)
_CALLS = frozenset({"function_call", "custom_tool_call"})
_ADDED: dict[str, dict[str, Any]] = {
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "custom_tool_call": {"status": "in_progress", "input": ""},
    "web_search_call": {"status": "in_progress", "action": {"type": "search"}},
    "mcp_call": {"status": "in_progress", "arguments": "", "output": None},
}
"""By type: the members of an item in its added event that differ from the complete item."""
_PADDING = "aG5ydWx4cQ9vT3"


def events(turn: Turn, n: int, framing: Framing) -> list[object]:
    """The streamed reply: objects with a ``type``, and nothing after the last of them."""
    response = body(turn, n, framing)
    del response["billing"]  # said in plain replies only
    status = "queued" if response["status"] == "queued" else "in_progress"
    nothing_yet: _Event = {"completed_at": None, "error": None, "incomplete_details": None, "output": [], "usage": None}
    begun = {**response, **nothing_yet, "status": status, "tool_usage": tool_usage(Turn())}
    stream = [{"type": "response.created", "response": begun}, {"type": f"response.{status}", "response": begun}]
    if status != "queued":
        stream += _items(response["output"], framing)
    if response["status"] in _LAST:
        last = {**response, "output": []} if framing.quirk == "final-output-empty" else response
        stream.append({"type": f"response.{response['status']}", "response": last})
    if framing.quirk == "event-behind-the-end":
        stream.append({"type": "response.rate_limits.updated", "rate_limits": []})
    return [*_numbered(stream, framing), *(["[DONE]"] if framing.quirk == "end-marker" else [])]


def without_finish(events: list[object]) -> list[object]:
    """The events without the last one, which has the final status."""
    return [event for event in events if not (isinstance(event, dict) and event["type"] in _TERMINAL)]


def error_events(before: list[object], message: str) -> list[object]:
    """The events that replace the rest of a stream: an ``error`` event, then the failed response.

    The service was observed to send both. If nothing was sent before, there is no response that could have failed.
    """
    sent = [event for event in before if isinstance(event, dict)]
    error = {**SERVER_ERROR, "message": message}
    events: list[_Event] = [{"type": "error", **error, "param": None}]
    begun = next((event["response"] for event in sent if "response" in event), None)
    if begun is not None:
        output = [event["item"] for event in sent if event["type"] == "response.output_item.done"]
        failed = {**begun, "status": "failed", "error": error, "output": output}
        events.append({"type": "response.failed", "response": failed})
    if sent and "sequence_number" not in sent[0]:
        return list(events)
    return [{**event, "sequence_number": number} for number, event in enumerate(events, len(sent))]


_UNKNOWN_EVENTS: list[_Event] = [
    {"type": "response.x_unknown", "x_unknown": UNKNOWN},
    {"type": "keepalive"},
]
"""Events that are not in the documentation: one of the response, and one that some services send to keep it open."""


def _numbered(stream: list[_Event], framing: Framing) -> Iterator[_Event]:
    """The events as sent: numbered, with the undocumented fields and events of the framing."""
    if framing.unknown_events:
        stream = [event for pair in zip(stream, cycle(_UNKNOWN_EVENTS), strict=False) for event in pair][:-1]
    extra = {"x_unknown": UNKNOWN} if framing.unknown_fields else {}
    for number, event in enumerate(stream):
        if framing.quirk == "no-sequence":
            yield {name: value for name, value in event.items() if name != "output_index"} | extra
        else:
            yield {"type": event["type"], "sequence_number": number, **event, **extra}


def _items(output: list[dict[str, Any]], framing: Framing) -> Iterator[_Event]:
    """The events of all items, one item after the other, except for interleaved calls."""
    placed = enumerate(output)
    for together, group in groupby(placed, lambda entry: framing.interleaved and entry[1]["type"] in _CALLS):
        lines = [list(_item(item, index, framing)) for index, item in group]
        yield from taking_turns(lines, _ends) if together else (event for line in lines for event in line)


def _ends(event: _Event) -> bool:
    """Whether an event marks an item or a part as complete."""
    return str(event["type"]).endswith(".done")


def _item(item: dict[str, Any], index: int, framing: Framing) -> Iterator[_Event]:
    middle = f"{item['id']}_middle" if framing.quirk == "item-ids-differ" else item["id"]
    place = {"item_id": middle, "output_index": index}
    yield {"type": "response.output_item.added", "output_index": index, "item": _added(item, framing)}
    for event in _between(item, framing):
        yield {"type": event["type"], **place, **event}
    if framing.quirk != "no-item-done" or item["type"] not in _CALLS:
        yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _added(item: dict[str, Any], framing: Framing) -> dict[str, Any]:
    """The item when it begins. The encrypted content of a reasoning item is not complete yet."""
    added = {**item, **_ADDED.get(item["type"], {})}
    if item["type"] == "reasoning":
        nothing_yet: _Event = {member: [] for member in ("summary", "content") if member in item}
        sealed = {"encrypted_content": item["encrypted_content"][:24]} if "encrypted_content" in item else {}
        added |= sealed | nothing_yet
    if item["type"] in _CALLS and framing.quirk == "early-id-differs":
        added["call_id"] = f"early_{item['call_id']}"
    if framing.quirk == "item-ids-differ":
        added["id"] = f"{item['id']}_early"
    return added


def _between(item: dict[str, Any], framing: Framing) -> Iterator[_Event]:
    """The events of one item between its first and its last, without its index."""
    match item["type"]:
        case "message":
            for index, part in enumerate(item["content"]):
                yield from ({"content_index": index, **event} for event in _part(part, framing))
        case "reasoning":
            for index, part in enumerate(item["summary"]):
                yield from ({"summary_index": index, **event} for event in _summary(part, framing))
            for index, part in enumerate(item.get("content") or ()):
                events = _texts("response.reasoning_text", "text", part["text"], framing)
                yield from ({"content_index": index, **event} for event in events)
        case "function_call":
            yield from _texts("response.function_call_arguments", "arguments", item["arguments"], framing)
        case "custom_tool_call":
            yield from _texts("response.custom_tool_call_input", "input", item["input"], framing)
        case "web_search_call":
            yield {"type": "response.web_search_call.in_progress"}
            yield {"type": "response.web_search_call.searching"}
            yield from _completed(item)
        case "mcp_call":
            yield {"type": "response.mcp_call.in_progress"}
            yield from _texts("response.mcp_call_arguments", "arguments", item["arguments"], framing)
            yield from _completed(item)


def _completed(item: dict[str, Any]) -> Iterator[_Event]:
    if item["status"] == "completed":
        yield {"type": f"response.{item['type']}.completed"}


def _part(part: dict[str, Any], framing: Framing) -> Iterator[_Event]:
    """The events of a part of a message: deltas of its text or of its refusal, and annotations before its end."""
    member = "refusal" if part["type"] == "refusal" else "text"
    annotations = part.get("annotations") or []
    nothing_yet = {member: "", **({"annotations": []} if annotations else {})}
    yield {"type": "response.content_part.added", "part": {**part, **nothing_yet}}
    logprobs: _Event = {} if member == "refusal" else {"logprobs": []}
    for event in _texts(f"response.{part['type']}", member, part[member], framing):
        for index, one in enumerate(annotations if _ends(event) else ()):
            yield {"type": "response.output_text.annotation.added", "annotation_index": index, "annotation": one}
        yield {**event, **logprobs}
    yield {"type": "response.content_part.done", "part": part}


def _summary(part: dict[str, Any], framing: Framing) -> Iterator[_Event]:
    yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}}
    yield from _texts("response.reasoning_summary_text", "text", part["text"], framing)
    yield {"type": "response.reasoning_summary_part.done", "part": part}


def _texts(kind: str, member: str, text: str, framing: Framing) -> Iterator[_Event]:
    """The deltas of a text, then the complete text."""
    for part in _cut(kind, text, framing):
        yield {"type": f"{kind}.delta", "delta": part, **_obfuscation(kind, part)}
    if framing.quirk != "no-arguments-done" or kind != "response.function_call_arguments":
        yield {"type": f"{kind}.done", member: text}


def _cut(kind: str, text: str, framing: Framing) -> Iterator[str]:
    empty = kind == "response.function_call_arguments" and text.strip() in {"", "{}"}
    if framing.quirk == "no-deltas" or (framing.no_empty_arguments and empty):
        return
    gap = [""] if framing.empty_deltas else []
    yield from gap
    for part in parts(text, framing.fragment):
        yield from [part, *gap]


def _obfuscation(kind: str, delta: str) -> dict[str, str]:
    """Padding that hides the length of a delta; deltas of a refusal were observed without it."""
    return {} if kind == "response.refusal" else {"obfuscation": _PADDING[len(delta) % len(_PADDING) :]}
