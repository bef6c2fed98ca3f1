"""No fault: a loop on Responses with requests, which always streams, stores nothing and builds items anew without ids.

It follows Responses (create, streaming events) and the reasoning guide: thoughts come back sealed. It tries again after
a refusal if it is told a short time in seconds; told a date, it hands the refusal on. The last request allows no calls.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import requests

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
    from collections.abc import Callable

PAUSE, LONGEST, TRIES = 0.03, 3, 4
AGAIN = (429, 500, 502, 503, 504)
ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


def ask(case: Json, body: Json) -> requests.Response:
    """Ask, and ask again after a refusal that may pass."""
    for attempt in range(TRIES):
        response = requests.post(
            f"{case['base_url']}/responses",
            json=body,
            stream=True,
            timeout=TIMEOUT,
            headers={"Authorization": f"Bearer {case['api_key']}"},
        )
        if response.status_code == requests.codes.ok:
            return response
        told = response.headers.get("Retry-After", str(PAUSE * 2**attempt))
        short = told.replace(".", "", 1).isdigit() and float(told) <= LONGEST
        if response.status_code not in AGAIN or not short:
            break
        time.sleep(float(told) + PAUSE)
    raise Stopped("provider", f"status {response.status_code}: {response.text[:500]}")


def read(response: requests.Response, emit: Callable[[str], None]) -> list[Json]:
    """Read the items of a response that is completed."""
    done: list[Json] = []
    try:
        for data in events(response.iter_content(None)):
            event = json.loads(data)
            kind = event.get("type", "error")
            if kind == "response.output_text.delta":
                emit(event["delta"])
            elif kind == "response.output_item.done":
                done.append(event["item"])
            elif kind == "error":
                raise Stopped("stream", data)
            elif kind in ENDS:
                if kind != "response.completed":
                    raise Stopped("truncated" if kind == "response.incomplete" else "provider", data)
                return event["response"].get("output") or done
    except (requests.RequestException, ValueError) as error:
        raise Stopped("stream", str(error)) from error
    raise Stopped("stream", "the stream ended before the response")


def anew(item: Json) -> Json:
    """Build an item of a turn anew, without what the service has added to it."""
    if item["type"] == "function_call":
        return {name: item[name] for name in ("type", "call_id", "name", "arguments")}
    if item["type"] == "reasoning" and item.get("encrypted_content"):
        return {name: item[name] for name in ("type", "summary", "encrypted_content")}
    if item["type"] == "message":
        texts = [{"type": "output_text", "text": part["text"]} for part in item["content"] if "text" in part]
        return {"type": "message", "role": "assistant", "content": texts}
    return item


def talk(case: Json, emit: Callable[[str], None]) -> str:
    """Go on until the model answers without calls."""
    tools = offered(case["tools"])
    items: list[Json] = [{"type": "message", **message} for message in case["messages"]]
    limit = case["options"].get("limit", LIMIT)
    for left in reversed(range(limit)):
        body = {"model": case["model"], "input": items, "stream": True, "store": False}
        body |= {"include": ["reasoning.encrypted_content"], "tools": responses_tools(tools)}
        body |= {"tool_choice": "auto" if left or limit == 1 else "none"} if tools else {}
        output = read(ask(case, body), emit)
        text = responses_text(output)
        if any(item["type"] == "custom_tool_call" for item in output):
            raise Stopped("unknown-tool", "a custom call, although none was offered")
        calls = [item for item in output if item["type"] == "function_call"]
        if not calls:
            return text
        if not left:
            break
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda call: run_call(tools, call["name"], call["arguments"])[0], calls))
        items += [anew(item) for item in output]
        items += [
            {"type": "function_call_output", "call_id": call["call_id"], "output": result}
            for call, result in zip(calls, results, strict=True)
        ]
    raise Stopped("limit", f"no answer in {limit} requests")


class Driver:
    """Drives the loop."""

    def start(self) -> Json:
        """Describe the loop."""
        able = {"plain": False, "stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True}
        return started("rebuilt responses", ["openai-responses"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run a case."""
        return outcome(lambda: talk(case, emit))
