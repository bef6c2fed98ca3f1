"""The model's reasoning, `reasoning_content`, is put before the answer and returned with it.

Compatible servers send reasoning next to `content`; only `content` is the answer (DeepSeek API, Thinking mode; Chat
Completions, choices).
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
    """An agent with its history and its tools."""

    def __init__(self, case: Json) -> None:
        self.case, self.tools, self.history = case, offered(case["tools"]), list(case["messages"])

    def ask(self) -> Json:
        """Ask the model once, and return its message if it is complete."""
        body = {"model": self.case["model"], "messages": self.history}
        body |= {"tools": chat_tools(self.tools)} if self.tools else {}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.case['api_key']}"}
        url = f"{self.case['base_url']}/chat/completions"
        with urllib.request.urlopen(
            urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=TIMEOUT
        ) as response:
            reply = json.load(response)
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error')}")
        choice: Json = reply["choices"][0]
        if choice["message"].get("refusal"):
            raise Stopped("refusal", choice["message"]["refusal"])
        if choice.get("finish_reason") in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
        return choice["message"]

    def run(self) -> str:
        """Ask until a turn has no calls."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            message = self.ask()
            turn = chat_turn(message)
            if not turn["tool_calls"]:
                said = [message.get("reasoning_content"), message.get("content")]  # the fault
                return "\n\n".join(text for text in said if text)
            self.history += [turn, *map(self.result, turn["tool_calls"])]
        raise Stopped("limit", "too many turns")

    def result(self, call: Json) -> Json:
        """Run a call, and write its message."""
        function = call.get("function") or {}
        text, _ = run_call(self.tools, function.get("name"), function.get("arguments"))
        return {"role": "tool", "tool_call_id": call["id"], "content": text}


class Driver:
    """Makes an agent for each case."""

    def start(self) -> Json:
        return started("chat-thoughts-in-answer", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: Agent(case).run())
