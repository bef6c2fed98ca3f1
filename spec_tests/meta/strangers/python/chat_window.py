"""After the prompt only the last five messages are sent, even if the first of them is a result whose call is missing.

Chat Completions, messages: a message of the role `tool` must follow the assistant message with its call.
Reported as microsoft/semantic-kernel#12708, langchain-ai/langchain#33245 and run-llama/llama_index#16214.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started

WINDOW = 5


def begin(case: Json) -> Json:
    """Create the initial state of a run."""
    return {
        "prompt": list(case["messages"]),
        "work": [],
        "tools": offered(case["tools"]),
        "left": case["options"].get("limit", LIMIT),
        "answer": None,
    }


def step(client: OpenAI, model: str, state: Json) -> Json:
    """Ask the model once, run its calls, and return the new state."""
    if state["left"] <= 0:
        raise Stopped("limit", "too many turns")
    body: Json = {"model": model, "messages": [*state["prompt"], *state["work"][-WINDOW:]]}
    if state["tools"]:
        body["tools"] = chat_tools(state["tools"])
    reply = client.chat.completions.create(**body).to_dict(warnings=False)
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    choice: Json = reply["choices"][0]
    if choice["message"].get("refusal"):
        raise Stopped("refusal", choice["message"]["refusal"])
    if choice.get("finish_reason") in ("length", "content_filter"):
        raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
    turn = chat_turn(choice["message"])
    if not turn["tool_calls"]:
        return state | {"answer": turn["content"] or ""}
    results = []
    for call in turn["tool_calls"]:
        function = call.get("function") or {}
        text, _ = run_call(state["tools"], function.get("name"), function.get("arguments"))
        results.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return state | {"work": [*state["work"], turn, *results], "left": state["left"] - 1}


def loop(case: Json) -> str:
    """Make steps until there is an answer."""
    with OpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client:
        state = begin(case)
        while state["answer"] is None:
            state = step(client, case["model"], state)
        return str(state["answer"])


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("chat-window", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
