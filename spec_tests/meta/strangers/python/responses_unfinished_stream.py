"""A stream without a terminal event is treated as complete: its text is the answer, and its calls run.

Responses, streaming events: a response ends in response.completed, response.incomplete or response.failed.
Reported, on other wires too, as griffinwork40/agent-afk#635 and ENTERPILOT/GoModel#1017.
Complete streams are handled correctly.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    events,
    offered,
    outcome,
    responses_text,
    responses_tools,
    run_call,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


CALLS = ("function_call", "custom_tool_call")


def streamed(client: httpx.Client, body: Json) -> Generator[str, None, Json]:
    """Stream a response: yield its text, and return it."""
    items: dict[int, Json] = {}
    with client.stream("POST", "responses", content=json.dumps(body | {"stream": True})) as response:
        if response.is_error:
            response.read()
        response.raise_for_status()
        for data in events(response.iter_bytes()):
            event = {} if data == "[DONE]" else json.loads(data)
            match event.get("type"):
                case "response.output_text.delta" if event["delta"]:
                    yield event["delta"]
                case "response.output_item.done":
                    items[event["output_index"]] = event["item"]
                case "response.completed" | "response.incomplete" | "response.failed":
                    whole: Json = event["response"]
                    return whole | {"output": whole.get("output") or [items[at] for at in sorted(items)]}
                case "error":
                    raise Stopped("stream", str(event.get("message") or event.get("error") or event))
    return {"status": "completed", "output": [items[at] for at in sorted(items)]}


def plain(client: httpx.Client, body: Json) -> Generator[str, None, Json]:
    """Ask for a response in one piece."""
    yield from ()
    reply: Json = client.post("responses", content=json.dumps(body)).raise_for_status().json()
    return reply


def loop(case: Json) -> Generator[str, None, str]:
    """Yield the text of all turns, and return the answer."""
    tools, items = offered(case["tools"]), list(case["messages"])
    fixed: Json = {"model": case["model"], "store": False, "include": ["reasoning.encrypted_content"]}
    if tools:
        fixed["tools"] = responses_tools(tools)
    headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
    with httpx.Client(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False) as client:
        for _ in range(case["options"].get("limit", LIMIT)):
            reply = yield from (streamed if case["stream"] else plain)(client, fixed | {"input": items})
            if reply.get("status") == "incomplete":
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            if reply.get("status") != "completed":
                raise Stopped("provider", f"{reply.get('status')}: {reply.get('error')}")
            results = [result(tools, item) for item in reply["output"] if item["type"] in CALLS]
            if not results:
                return responses_text(reply["output"])
            items = [*items, *reply["output"], *results]
    raise Stopped("limit", "too many turns")


def result(tools: dict[str, Json], item: Json) -> Json:
    """Run a call, and write its output."""
    known = tools if item["type"] == "function_call" else {}
    text, _ = run_call(known, item["name"], item.get("arguments"))
    return {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": text}


class Driver:
    """Hands on what the loop yields."""

    def start(self) -> Json:
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True}
        return started("responses-unfinished-stream", ["openai-responses"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        def drain() -> str:
            turns: Any = loop(case)
            while True:
                try:
                    emit(next(turns))
                except StopIteration as end:
                    return str(end.value)

        return outcome(drain)
