"""A stream without a charset in its header is decoded as Latin-1, which breaks all characters beyond ASCII.

WHATWG HTML, 9.2.5 and 9.2.6: an event stream is always UTF-8. Latin-1 was the default of RFC 2616 for all text.
Reported as open-metadata/OpenMetadata#29531, Moyf/moys-asr-workflow#123 and Blizaine/Maestro#110.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    blocks_back,
    events,
    input_of,
    messages_prompt,
    messages_tools,
    offered,
    outcome,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Turn:
    """A turn of the model, assembled from events or taken from a reply."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self.emit, self.reason, self.ended = emit, "", False
        self.blocks: dict[int, Json] = {}
        self.inputs: dict[int, str] = {}

    def take(self, event: Json) -> None:
        """Take an event."""
        kind = event.get("type")
        if kind == "error":
            raise Stopped("stream", str(event.get("error")))
        if kind == "content_block_start":
            self.blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self.add(event["index"], event["delta"])
        elif kind == "message_delta":
            self.reason = event["delta"].get("stop_reason") or self.reason
        elif kind == "message_stop":
            self.ended = True

    def add(self, index: int, delta: Json) -> None:
        """Add a piece to a block."""
        block, kind = self.blocks[index], delta["type"]
        if kind == "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
            if delta["text"]:
                self.emit(delta["text"])
        elif kind == "input_json_delta":
            self.inputs[index] = self.inputs.get(index, "") + delta["partial_json"]
        elif kind == "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]

    def content(self) -> list[Json]:
        """Return the blocks to send back."""
        if not (self.ended and self.reason):
            raise Stopped("stream", "the stream ended before the message did")
        for index, raw in self.inputs.items():
            self.blocks[index]["input"] = input_of(raw, self.blocks[index].get("input"))
        return [self.blocks[index] for index in sorted(self.blocks)]

    def calls(self) -> list[tuple[Json, Any]]:
        """Return the calls, with the input as the model wrote it."""
        used = [(index, block) for index, block in sorted(self.blocks.items()) if block["type"] == "tool_use"]
        return [(block, self.inputs.get(index, "").strip() or block["input"]) for index, block in used]


def recoded(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Decode a response with the charset of its header."""
    charset = response.headers.get_content_charset("iso-8859-1")
    while chunk := response.readline():
        yield chunk.decode(charset).encode()


def ask(case: Json, body: Json, turn: Turn) -> None:
    """Ask the model once."""
    url = urlsplit(case["base_url"])
    headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    with closing(http.client.HTTPConnection(url.netloc, timeout=TIMEOUT)) as connection:
        connection.request("POST", f"{url.path}/messages", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            raise Stopped("provider", f"status {response.status}: {response.read()[:500]!r}")
        if body["stream"]:
            for data in events(recoded(response)):
                turn.take(json.loads(data))
            return
        reply = json.load(response)
        if reply.get("type") == "error":
            raise Stopped("provider", str(reply["error"]))
        turn.blocks, turn.reason, turn.ended = dict(enumerate(reply["content"])), reply["stop_reason"], True


def loop(case: Json, emit: Callable[[str], None]) -> str:
    """Ask until the model stops for good."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "max_tokens": 4096, "stream": case["stream"]}
    body |= messages_prompt(case["messages"]) | ({"tools": messages_tools(tools)} if tools else {})
    for _ in range(case["options"].get("limit", LIMIT)):
        turn = Turn(emit)
        ask(case, body, turn)
        content, calls = turn.content(), turn.calls()
        said = [{"role": "assistant", "content": blocks_back(content)}] if blocks_back(content) else []
        if turn.reason == "tool_use" and calls:
            results = []
            for call, raw in calls:
                text, failed = run_call(tools, call["name"], raw)
                results.append(
                    {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed},
                )
            body["messages"] = [*body["messages"], *said, {"role": "user", "content": results}]
        elif turn.reason in ("pause_turn", "compaction"):
            body["messages"] = [*body["messages"], *said]
        elif turn.reason in ("max_tokens", "model_context_window_exceeded"):
            raise Stopped("truncated", f"stop reason {turn.reason}")
        elif turn.reason == "refusal":
            raise Stopped("refusal", "the model refused")
        else:
            return "".join(block["text"] for block in content if block["type"] == "text")
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        wires = ["anthropic-messages"]
        return started("messages-latin1-stream", wires, ["sync"], stream=True, chunks=True, limit=True, concurrent=True)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        return outcome(lambda: loop(case, emit))
