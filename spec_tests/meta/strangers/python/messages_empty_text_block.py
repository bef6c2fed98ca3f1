"""A tool that returns an empty text is answered with an empty text block, which the service refuses.

Messages: text content blocks must be non-empty; a result without text has an empty string for content, or none.
Reported as aliasrobotics/cai#182, vercel/ai#5576 and run-llama/llama_index#17278.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    blocks_back,
    messages_prompt,
    messages_tools,
    offered,
    outcome,
    run_call,
    started,
)


class Reply(NamedTuple):
    """The model's reply."""

    content: list[Json]
    reason: str

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def calls(self) -> list[Json]:
        return [block for block in self.content if block["type"] == "tool_use"]


def ask(case: Json, body: Json) -> Reply:
    """Ask the model once."""
    headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    request = urllib.request.Request(f"{case['base_url']}/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply = json.load(response)
    if reply.get("type") == "error":
        raise Stopped("provider", str(reply["error"]))
    return Reply(reply["content"], reply["stop_reason"])


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and return its block."""
    text, failed = run_call(tools, call["name"], call["input"])
    content = [{"type": "text", "text": text}]
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def loop(case: Json) -> str:
    """Ask until the model stops for good."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
    if tools:
        body["tools"] = messages_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        reply = ask(case, body)
        said = blocks_back(reply.content)
        turn = [{"role": "assistant", "content": said}] if said else []
        if reply.reason == "tool_use" and reply.calls:
            results = [result(tools, call) for call in reply.calls]
            body["messages"] = [*body["messages"], *turn, {"role": "user", "content": results}]
        elif reply.reason in ("pause_turn", "compaction"):
            body["messages"] = [*body["messages"], *turn]
        elif reply.reason in ("max_tokens", "model_context_window_exceeded"):
            raise Stopped("truncated", f"stop reason {reply.reason}")
        elif reply.reason == "refusal":
            raise Stopped("refusal", reply.text or "the model refused")
        else:
            return reply.text
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("messages-empty-text-block", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
