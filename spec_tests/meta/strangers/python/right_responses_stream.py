"""No fault: a loop on Responses with raw HTTP, plain and streamed, without state at the service.

It follows Responses (create, streaming events), the function calling guide and the reasoning guide: all items of a
response are sent back in order, outputs are matched by call_id, and only the calls of a completed response run.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    as_text,
    events,
    offered,
    outcome,
    responses_text,
    responses_tools,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("function_call", "custom_tool_call")


def ask(case: Json, body: Json, emit: Callable[[str], None]) -> Json:
    """Ask for a response, and return it when it is whole."""
    url = urlsplit(case["base_url"])
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    with closing(http.client.HTTPConnection(url.netloc, timeout=TIMEOUT)) as connection:
        connection.request("POST", f"{url.path}/responses", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        if response.status != http.HTTPStatus.OK:
            raise Stopped("provider", f"status {response.status}: {response.read()[:500]!r}")
        if body["stream"]:
            return read(response, emit)
        reply: Json = json.load(response)
        return reply


def read(response: http.client.HTTPResponse, emit: Callable[[str], None]) -> Json:
    """Read a response from a stream."""
    begun: set[int] = set()
    done: dict[int, Json] = {}
    for data in events(iter(lambda: response.read1(65536), b"")):
        event = json.loads(data) if data != "[DONE]" else {}
        match event.get("type"):
            case "response.output_item.added":
                begun.add(event["output_index"])
            case "response.output_item.done":
                done[event["output_index"]] = event["item"]
            case "response.output_text.delta" if event["delta"]:
                emit(event["delta"])
            case "response.completed" | "response.incomplete" | "response.failed":
                whole: Json = event["response"]
                items = [done[index] for index in sorted(done)]
                listed = whole.get("output") or []
                if not listed and begun - set(done) and whole.get("status") == "completed":
                    raise Stopped("stream", "items of the response are missing")
                return whole | {"output": listed if len(listed) > len(items) else items}
            case "error":
                raise Stopped("stream", str(event.get("message") or event.get("error") or event))
    raise Stopped("stream", "the stream ended before the response did")


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and write its output."""
    text, _ = run_call(tools if call["type"] == "function_call" else {}, call["name"], call.get("arguments"))
    return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}


def loop(case: Json, emit: Callable[[str], None]) -> str:
    """Ask until the model calls nothing."""
    tools = offered(case["tools"])
    body: Json = {
        "model": case["model"],
        "input": list(case["messages"]),
        "stream": case["stream"],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if tools:
        body["tools"] = responses_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        reply = ask(case, body, emit)
        match reply.get("status"):
            case "completed":
                calls = [item for item in reply["output"] if item["type"] in CALLS]
                if not calls:
                    return as_text(responses_text(reply["output"]))
                body["input"] += [*reply["output"], *(result(tools, call) for call in calls)]
            case "incomplete":
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            case status:
                raise Stopped("provider", f"the response is {status}: {reply.get('error')}")
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True}
        return started("right-responses-stream", ["openai-responses"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        return outcome(lambda: loop(case, emit))
