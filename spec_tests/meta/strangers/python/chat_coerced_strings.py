"""String arguments that are valid JSON are parsed as JSON, so that "007" stays a string but "42" becomes a number.

Function calling guide, Handling function calls: the arguments are one JSON text, and a string in it is a string
(RFC 8259, section 7). Reported as modelcontextprotocol/python-sdk#316 and PrefectHQ/fastmcp#330.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    chat_tools,
    chat_turn,
    offered,
    outcome,
    read_arguments,
    run_call,
    started,
)


@dataclass
class Call:
    """A call that the model made."""

    id: str
    name: str | None
    raw: Any

    def run(self, tools: dict[str, Json]) -> Json:
        """Run the call, and write the message with its result."""
        try:
            arguments = {key: unpacked(value) for key, value in read_arguments(self.raw).items()}
        except ValueError as error:
            return self.answer(f"Error: the arguments cannot be read: {error}")
        return self.answer(run_call(tools, self.name, arguments)[0])

    def answer(self, text: str) -> Json:
        """Write a result."""
        return {"role": "tool", "tool_call_id": self.id, "content": text}


def refuse(word: str) -> None:
    """Reject the constants that Python's JSON parser accepts and JSON does not have."""
    raise ValueError(word)


def unpacked(value: Any) -> Any:
    """Parse strings that contain JSON."""
    if not isinstance(value, str):
        return value
    try:
        inner = json.loads(value, parse_constant=refuse)
    except (ValueError, RecursionError):
        return value
    return value if isinstance(inner, str) else inner


@dataclass
class Conversation:
    """The messages, and the methods that add to them."""

    url: str
    key: str
    model: str
    messages: list[Json]
    tools: dict[str, Json] = field(default_factory=dict)

    def ask(self) -> Json:
        """Ask the model for its next turn."""
        body: Json = {"model": self.model, "messages": self.messages}
        if self.tools:
            body["tools"] = chat_tools(self.tools)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            reply = json.load(response)
        if not reply.get("choices"):
            raise Stopped("provider", f"no choices: {reply.get('error')}")
        choice = reply["choices"][0]
        if choice["message"].get("refusal"):
            raise Stopped("refusal", choice["message"]["refusal"])
        if choice.get("finish_reason") in ("length", "content_filter"):
            raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
        return chat_turn(choice["message"])

    def run(self, limit: int) -> str:
        """Ask until a turn has no calls."""
        for _ in range(limit):
            turn = self.ask()
            if not turn["tool_calls"]:
                return turn["content"] or ""
            self.messages.append(turn)
            for item in turn["tool_calls"]:
                function = item.get("function") or {}
                call = Call(item["id"], function.get("name"), function.get("arguments"))
                self.messages.append(call.run(self.tools))
        raise Stopped("limit", "too many turns")


class Driver:
    """Has a conversation for each case."""

    def start(self) -> Json:
        return started("chat-coerced-strings", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        messages, tools = list(case["messages"]), offered(case["tools"])
        talk = Conversation(case["base_url"], case["api_key"], case["model"], messages, tools)
        return outcome(lambda: talk.run(case["options"].get("limit", LIMIT)))
