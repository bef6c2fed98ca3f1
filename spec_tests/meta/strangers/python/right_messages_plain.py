"""No fault: a loop on Messages with httpx and plain replies.

It follows Messages (create), handling stop reasons, and tool use (handle tool calls, parallel tool use): only the stop
reason decides, a turn is sent back unchanged, and one user message has all results of a turn and nothing else.
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


class Conversation:
    """A conversation with the model."""

    def __init__(self, case: Json, client: httpx.Client) -> None:
        self.client, self.tools = client, offered(case["tools"])
        self.body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
        if self.tools:
            self.body["tools"] = messages_tools(self.tools)

    def ask(self) -> Json:
        """Ask the model once."""
        reply: Json = self.client.post("messages", content=json.dumps(self.body)).raise_for_status().json()
        if reply.get("type") == "error" or "content" not in reply:
            raise Stopped("provider", str(reply.get("error") or reply))
        if isinstance(reply.get("container"), dict):
            self.body["container"] = reply["container"]["id"]
        return reply

    def say(self, role: str, content: list[Json]) -> None:
        """Put a message into the history, unless there is nothing in it."""
        if content:
            self.body["messages"] = [*self.body["messages"], {"role": role, "content": content}]

    def run(self, limit: int) -> str:
        """Ask until the model stops for good."""
        for _ in range(limit):
            reply = self.ask()
            content, reason = reply["content"], reply.get("stop_reason")
            text = "".join(block["text"] for block in content if block["type"] == "text")
            calls = [block for block in content if block["type"] == "tool_use"]
            match reason:
                case "tool_use" if calls:
                    self.say("assistant", blocks_back(content))
                    self.say("user", [self.result(call) for call in calls])
                case "pause_turn" | "compaction":
                    self.say("assistant", blocks_back(content))
                case "max_tokens" | "model_context_window_exceeded":
                    raise Stopped("truncated", f"stop reason {reason}")
                case "refusal":
                    raise Stopped("refusal", str(reply.get("stop_details") or text or "the model refused"))
                case _:
                    return text
        raise Stopped("limit", "too many turns")

    def result(self, call: Json) -> Json:
        """Run a call, and write its block."""
        text, failed = run_call(self.tools, call["name"], call["input"])
        block: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        if failed:
            block["is_error"] = True
        if call.get("toolset_name"):
            block["toolset_name"] = call["toolset_name"]
        return block


class Driver:
    """Has a conversation for each case."""

    def start(self) -> Json:
        return started("right-messages-plain", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01", "content-type": "application/json"}

        def talk() -> str:
            with httpx.Client(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False) as client:
                return Conversation(case, client).run(case["options"].get("limit", LIMIT))

        return outcome(talk)
