"""Only the text, thinking and tool_use blocks of a turn are sent back; blocks of other types are dropped.

Messages, extended thinking with tool use: thinking and redacted_thinking blocks go back unmodified; server tools: so do
their blocks. Reported as maximhq/bifrost#4942 and RightNow-AI/openfang#1187.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx

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


def loop(case: Json) -> str:
    """Ask until the model has answered."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
    if tools:
        body["tools"] = messages_tools(tools)
    headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    with httpx.Client(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False) as client:
        for _ in range(case["options"].get("limit", LIMIT)):
            reply = client.post("messages", content=json.dumps(body)).raise_for_status().json()
            if reply.get("type") == "error":
                raise Stopped("provider", str(reply["error"]))
            kept: list[Json] = []
            calls: list[Json] = []
            for block in blocks_back(reply["content"]):
                match block:
                    case {"type": "tool_use"}:
                        calls.append(block)
                        kept.append(block)
                    case {"type": "text" | "thinking"}:
                        kept.append(block)
            match reply["stop_reason"]:
                case "tool_use" if calls:
                    results = [result(tools, call) for call in calls]
                    turns = [{"role": "assistant", "content": kept}, {"role": "user", "content": results}]
                    body["messages"] = [*body["messages"], *turns]
                case "pause_turn" | "compaction":
                    turns = [{"role": "assistant", "content": kept}] if kept else []
                    body["messages"] = [*body["messages"], *turns]
                case "max_tokens" | "model_context_window_exceeded" as reason:
                    raise Stopped("truncated", f"stop reason {reason}")
                case "refusal":
                    raise Stopped("refusal", str(reply.get("stop_details") or "the model refused"))
                case _:
                    return "".join(block["text"] for block in reply["content"] if block["type"] == "text")
    raise Stopped("limit", "too many turns")


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and return its block."""
    text, failed = run_call(tools, call["name"], call["input"])
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
    return block | ({"is_error": True} if failed else {})


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("messages-known-blocks", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
