"""At the limit the run ends with a sentence that looks like the model's answer, without an error for the caller.

Prompty, Agent Mode guide: past max_iterations there is an error; the caller must be able to distinguish the two.
Reported as langchain-ai/langchain#8493 and crewAIInc/crewAI#65. The number of requests is correct.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, offered, outcome, run_call, started


def post(case: Json, body: Json) -> Json:
    """Send a request, and return the reply."""
    url = urlsplit(case["base_url"])
    connection = http.client.HTTPConnection(url.netloc, timeout=TIMEOUT)
    try:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
        connection.request("POST", f"{url.path}/chat/completions", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    if response.status != http.HTTPStatus.OK:
        raise Stopped("provider", f"status {response.status}: {text[:500]!r}")
    reply: Json = json.loads(text)
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    return reply["choices"][0]


def converse(case: Json, tools: dict[str, Json], messages: tuple[Json, ...], left: int) -> str:
    """Return the answer to a conversation, with this number of requests left."""
    if left <= 0:
        return "I stopped, because the limit of iterations was reached."
    body = {"model": case["model"], "messages": messages} | ({"tools": chat_tools(tools)} if tools else {})
    choice = post(case, body)
    if choice["message"].get("refusal"):
        raise Stopped("refusal", choice["message"]["refusal"])
    if choice.get("finish_reason") in ("length", "content_filter"):
        raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
    turn = chat_turn(choice["message"])
    if not turn["tool_calls"]:
        return turn["content"] or ""
    return converse(case, tools, (*messages, turn, *(result(tools, call) for call in turn["tool_calls"])), left - 1)


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and return its message."""
    function = call.get("function") or {}
    text, _ = run_call(tools, function.get("name"), function.get("arguments"))
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


class Driver:
    """Starts the recursion."""

    def start(self) -> Json:
        return started("chat-limit-is-answer", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        limit = case["options"].get("limit", LIMIT)
        return outcome(lambda: converse(case, offered(case["tools"]), tuple(case["messages"]), limit))
