"""After a paused turn a user message asks the model to continue; it follows the turn that is to be continued.

Messages, handling stop reasons, pause_turn: the reply is sent back unchanged, with nothing after it.
Other faults at the same place are reported as gsd-build/gsd-2#2869 and anthropics/anthropic-sdk-python#1170.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from anthropic import Anthropic

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

CUT = ("max_tokens", "model_context_window_exceeded")


class Assistant:
    """Talks to the service for one case."""

    def __init__(self, client: Anthropic, case: Json) -> None:
        self.client, self.tools = client, offered(case["tools"])
        self.limit: int = case["options"].get("limit", LIMIT)
        self.body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
        if self.tools:
            self.body["tools"] = messages_tools(self.tools)

    def say(self, role: str, content: Any) -> None:
        """Append a message to the history."""
        if content:
            self.body["messages"] = [*self.body["messages"], {"role": role, "content": content}]

    def answer(self) -> str:
        """Ask until there is an answer."""
        for _ in range(self.limit):
            reply: Json = self.client.messages.create(**self.body).to_dict(warnings=False)
            if "content" not in reply:
                raise Stopped("provider", f"no message: {reply}")
            content, reason = reply["content"], reply.get("stop_reason")
            calls = [block for block in content if block["type"] == "tool_use"]
            if reason in CUT:
                raise Stopped("truncated", f"stop reason {reason}")
            if reason == "refusal":
                raise Stopped("refusal", str(reply.get("stop_details") or "the model refused"))
            if reason in ("pause_turn", "compaction"):
                self.say("assistant", blocks_back(content))
                self.say("user", "Please go on.")
            elif reason == "tool_use" and calls:
                self.say("assistant", blocks_back(content))
                self.say("user", [self.result(call) for call in calls])
            else:
                return "".join(block["text"] for block in content if block["type"] == "text")
        raise Stopped("limit", "too many turns")

    def result(self, call: Json) -> Json:
        """Run a call, and write its block."""
        text, failed = run_call(self.tools, call["name"], call["input"])
        return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}


class Driver:
    """Makes an assistant for each case."""

    def start(self) -> Json:
        return started("messages-pause-nudge", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        def answer() -> str:
            url = case["base_url"].removesuffix("/v1")
            with Anthropic(base_url=url, api_key=case["api_key"], timeout=TIMEOUT) as client:
                return Assistant(client, case).answer()

        return outcome(answer)
