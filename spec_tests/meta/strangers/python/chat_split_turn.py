"""Text of a turn with calls becomes a separate message in the history, between the calls and their results.

Chat Completions, messages: the tool messages directly follow the assistant message with their calls.
Reported as microsoft/agent-framework#694. A turn with calls only is handled correctly.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started


class Agent:
    """One run of the loop."""

    def __init__(self, case: Json) -> None:
        self.case = case
        self.tools = offered(case["tools"])
        self.history: list[Json] = list(case["messages"])

    def run(self) -> str:
        """Ask until a turn has no calls."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            message = self.ask()
            if not message.get("tool_calls"):
                return message.get("content") or ""
            self.remember(chat_turn(message))
        raise Stopped("limit", "too many turns")

    def remember(self, turn: Json) -> None:
        """Append a turn with calls to the history, and the results of its calls."""
        text = turn.pop("content")
        self.history.append(turn)
        if text:
            self.history.append({"role": "assistant", "content": text})
        for call in turn["tool_calls"]:
            function = call.get("function") or {}
            result, _ = run_call(self.tools, function.get("name"), function.get("arguments"))
            self.history.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    def ask(self) -> Json:
        """Ask the model once, and return its message if it is complete."""
        body: Json = {"model": self.case["model"], "messages": self.history}
        if self.tools:
            body["tools"] = chat_tools(self.tools)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.case['api_key']}"}
        request = urllib.request.Request(
            f"{self.case['base_url']}/chat/completions", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            reply = json.load(response)
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error')}")
        choice: Json = reply["choices"][0]
        if choice["message"].get("refusal"):
            raise Stopped("refusal", choice["message"]["refusal"])
        if choice.get("finish_reason") in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
        return choice["message"]


class Driver:
    """Makes an agent for each case."""

    def start(self) -> Json:
        return started("chat-split-turn", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(Agent(case).run)
