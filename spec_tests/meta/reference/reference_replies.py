"""Chat Completions replies for these tests, written from what the provider documents and not from what we parse."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

URL = "http://provider.test/v1"
CHAT = f"{URL}/chat/completions"
EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8"}
QUESTION = {"role": "user", "content": "Weather in Paris?"}


def call(call_id: str = "call_1", name: str = "weather", arguments: Any = '{"city":"Paris"}') -> Json:
    """One call as a plain reply has it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def plain(content: str | None = None, *calls: Json, finish: str | None = None, **more: Any) -> Json:
    """A plain reply."""
    message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}
    finish = finish or ("tool_calls" if calls else "stop")
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def delta(content: str | None = None, *, finish: str | None = None, **more: Any) -> Json:
    """One event of a stream."""
    body = {**({} if content is None else {"content": content}), **more}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": body, "finish_reason": finish}]}


def piece(arguments: str | None = None, *, index: int | None = 0, call_id: str = "", name: str = "") -> Json:
    """A piece of a call, as it stands in a delta's list."""
    function = {**({"name": name} if name else {}), **({} if arguments is None else {"arguments": arguments})}
    head = {**({} if index is None else {"index": index}), **({"id": call_id, "type": "function"} if call_id else {})}
    return {**head, "function": function}


def pieces(*parts: Json, finish: str | None = None) -> Json:
    """One event with pieces of calls."""
    return delta(finish=finish, tool_calls=list(parts))


def sse(*events: Json, done: bool = True) -> bytes:
    """Events as bytes."""
    lines = [json.dumps(event, ensure_ascii=False) for event in events] + ["[DONE]"] * done
    return "".join(f"data: {line}\n\n" for line in lines).encode()


TOOL_STREAM = sse(
    pieces(piece("", call_id="call_1", name="weather")),
    pieces(piece('{"city":')),
    pieces(piece('"Paris"}')),
    delta(finish="tool_calls"),
)
TEXT_STREAM = sse(delta("", role="assistant"), delta("18 "), delta("°C"), delta(finish="stop"))
