"""Small clients of a mock, on the standard library: one request, and what came of it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

ROUTES = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
}
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def body(wire: str, *messages: Any, **more: Any) -> dict[str, Any]:
    """A request of this wire with these messages; a text is one of the user."""
    said = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages]
    member = "input" if wire == "openai-responses" else "messages"
    least = {"max_tokens": 100} if wire == "anthropic-messages" else {}
    return {"model": "m", member: said, **least, **more}


def post(
    url: str, content: Any, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of the reply to this JSON, or these bytes."""
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    version = {"anthropic-version": "2023-06-01"} if parts.path.endswith("/messages") else {}
    try:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        line.request(method, path, raw or None, {"content-type": "application/json", **version, **(headers or {})})
        reply = line.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        line.close()


def ask(base_url: str, wire: str, *messages: Any, **more: Any) -> tuple[int, Any]:
    """The status and the JSON of the reply to a request of this wire."""
    status, _, raw = post(base_url + ROUTES[wire], body(wire, *messages, **more))
    return status, json.loads(raw)


def text(wire: str, reply: Any) -> str:
    """The text of a plain reply."""
    match wire:
        case "openai-chat":
            return str(reply["choices"][0]["message"]["content"])
        case "openai-responses":
            return str(reply["output"][0]["content"][0]["text"])
        case _:
            return str(reply["content"][0]["text"])


ORPHANS: dict[str, list[Any]] = {
    "openai-chat": ["Hi.", {"role": "tool", "tool_call_id": "call_x", "content": "21"}],
    "openai-responses": ["Hi.", {"type": "function_call_output", "call_id": "call_x", "output": "21"}],
    "anthropic-messages": [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_x", "content": "21"}]}
    ],
}
"""Messages of each wire with a result of no call."""
