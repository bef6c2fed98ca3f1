"""OpenAI Responses replies for these tests, written from what the provider documents and not from what we parse."""

from __future__ import annotations

import json
from typing import Any

from meta.reference.reference_replies import URL, Json

RESPONSES = f"{URL}/responses"

REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAABo+/=="}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}
MCP = {"id": "mcp_1", "type": "mcp_call", "name": "echo", "server_label": "s", "arguments": "{}", "output": "y"}
HOLOGRAM = {"id": "hg_1", "type": "hologram", "data": "0110"}


def text(said: str, item_id: str = "msg_1", **more: Any) -> Json:
    """A message."""
    part = {"type": "output_text", "text": said, "annotations": []}
    head = {"id": item_id, "type": "message", "role": "assistant", "status": "completed"}
    return {**head, "content": [part], **more}


def refusal(said: str) -> Json:
    """A message that refuses."""
    return {**text(""), "content": [{"type": "refusal", "refusal": said}]}


def function_call(call_id: str = "call_1", arguments: Any = '{"city":"Paris"}', **more: Any) -> Json:
    """An item that calls a tool; its own id is another than that of the call."""
    head = {"id": f"fc_{call_id}", "type": "function_call", "status": "completed", "name": "weather"}
    return {**head, "call_id": call_id, "arguments": arguments, **more}


def response(*items: Json, status: str | None = "completed", reason: str | None = None, **more: Any) -> Json:
    """A plain reply."""
    details = None if reason is None else {"reason": reason}
    usage = {"input_tokens": 3, "output_tokens": 9, "total_tokens": 12}
    head = {"id": "resp_1", "object": "response", "status": status, "error": None, "incomplete_details": details}
    return {**head, "model": "m", "output": list(items), "usage": usage, **more}


def added(index: int, item: Json) -> Json:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: Json) -> Json:
    """An item is whole."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def about(kind: str, index: int, item: Json, **more: Any) -> Json:
    """An event about an item."""
    return {"type": f"response.{kind}", "output_index": index, "item_id": item["id"], **more}


def message_item(index: int, item: Json, *pieces: str) -> list[Json]:
    """The events of a message."""
    said = item["content"][0]["text"]
    return [
        added(index, {**item, "status": "in_progress", "content": []}),
        about("content_part.added", index, item, content_index=0, part={**item["content"][0], "text": ""}),
        *[about("output_text.delta", index, item, content_index=0, delta=piece) for piece in pieces],
        about("output_text.done", index, item, content_index=0, text=said),
        about("content_part.done", index, item, content_index=0, part=item["content"][0]),
        done(index, item),
    ]


def call_item(index: int, item: Json, *pieces: str) -> list[Json]:
    """The events of a call."""
    return [
        added(index, {**item, "status": "in_progress", "arguments": ""}),
        *[about("function_call_arguments.delta", index, item, delta=piece, obfuscation="xyz") for piece in pieces],
        about("function_call_arguments.done", index, item, arguments=item["arguments"]),
        done(index, item),
    ]


def ends(reply: Json) -> Json:
    """The last event."""
    return {"type": f"response.{reply['status']}", "response": reply}


def stream(reply: Json, *events: Json) -> list[Json]:
    """The events of a whole stream."""
    begun = {**reply, "status": "in_progress", "output": [], "usage": None}
    head = [{"type": f"response.{kind}", "response": begun} for kind in ("created", "in_progress")]
    return [{**event, "sequence_number": at} for at, event in enumerate([*head, *events, ends(reply)])]


def sse(*events: Json) -> bytes:
    """Events as bytes, in the service's own style: named."""
    return "".join(
        f"event: {one.get('type')}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n" for one in events
    ).encode()
