"""A right server in front of its model, as a program: PORT UPSTREAM DISPATCH.

It hands what it does not know itself to its model, and the model's refusals to its client. It runs the first call of a
turn and warns of the others in its log. Bytes that are not UTF-8 it reads as replacement characters, as Node.js does.
"""

from __future__ import annotations

import json
import logging
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PORT, UPSTREAM, DISPATCH = sys.argv[1:]
NO_OBJECT = {"error": {"message": "every message has to be an object with a role"}}
log = logging.getLogger("forwarding")
open_url = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Handler(BaseHTTPRequestHandler):
    """Answers requests of Chat Completions in plain replies."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Run the loop."""
        try:
            body = json.loads(_received(self).decode("utf-8", "replace"))
        except ValueError as error:
            self.reply(400, {"error": {"message": f"the body is not JSON: {error}"}})
            return
        if not isinstance(body, dict):
            self.reply(400, {"error": {"message": "the body is not an object"}})
            return
        if isinstance(body.get("messages"), list) and not all(isinstance(one, dict) for one in body["messages"]):
            self.reply(422, NO_OBJECT)
            return
        self.reply(*_played(body))

    def reply(self, status: int, body: Any) -> None:
        """A whole reply."""
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _received(handler: Handler) -> bytes:
    """The body of a request, chunked or not."""
    if "chunked" not in handler.headers.get("Transfer-Encoding", ""):
        return handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
    chunks = []
    while size := int(handler.rfile.readline(), 16):
        chunks.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(chunks)


def _played(body: dict[str, Any]) -> tuple[int, Any]:
    """Status and body of the reply to the client."""
    while True:
        status, reply = _posted(f"{UPSTREAM}/chat/completions", body)
        message = reply["choices"][0]["message"] if status == 200 else {}
        if not message.get("tool_calls"):
            return status, reply
        first, *others = message["tool_calls"]
        if others:
            log.warning("%d calls after the first are not run", len(others))
        function = first["function"]
        _, result = _posted(DISPATCH, {"name": function["name"], "arguments": json.loads(function["arguments"])})
        told = {"role": "tool", "tool_call_id": first["id"], "content": result["content"]}
        body["messages"] += [{**message, "tool_calls": [first]}, told]


def _posted(url: str, body: Any) -> tuple[int, Any]:
    """The status and the JSON that a URL answers."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        with open_url(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
