"""At the limit the model is asked once more, without tool calls allowed, and this reply is the answer.

A limit of N allows N requests, and then the caller gets an error (Prompty, Agent Mode guide: max_iterations; the skill
tool-execution-loop: maximum of turns). The same is requested as a feature in langflow-ai/langflow#10607.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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

if TYPE_CHECKING:
    from collections.abc import Callable


def service(case: Json) -> Callable[[Json], Json]:
    """Make a function that sends a request for this case."""
    url = urlsplit(case["base_url"])
    headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01", "content-type": "application/json"}

    def ask(body: Json) -> Json:
        with closing(http.client.HTTPConnection(url.netloc, timeout=TIMEOUT)) as connection:
            connection.request("POST", f"{url.path}/messages", json.dumps(body).encode(), headers)
            response = connection.getresponse()
            text = response.read()
        if response.status != http.HTTPStatus.OK:
            raise Stopped("provider", f"status {response.status}: {text[:500]!r}")
        reply: Json = json.loads(text)
        if reply.get("type") == "error":
            raise Stopped("provider", str(reply["error"]))
        return reply

    return ask


def words(reply: Json) -> str:
    """Join the texts of a reply."""
    return "".join(block["text"] for block in reply["content"] if block["type"] == "text")


def follow(ask: Callable[[Json], Json], tools: dict[str, Json], body: Json, left: int) -> str:
    """Ask, and run the calls of the reply, with this number of requests left."""
    last = left <= 0
    reply = ask(body | ({"tool_choice": {"type": "none"}} if last and tools else {}))
    reason, messages = reply["stop_reason"], list(body["messages"])
    calls = [block for block in reply["content"] if block["type"] == "tool_use"]
    if reason in ("max_tokens", "model_context_window_exceeded"):
        raise Stopped("truncated", f"stop reason {reason}")
    if reason == "refusal":
        raise Stopped("refusal", words(reply) or "the model refused")
    if reason not in ("tool_use", "pause_turn", "compaction") or (reason == "tool_use" and not calls):
        return words(reply)
    if last:
        raise Stopped("limit", "too many turns")
    if said := blocks_back(reply["content"]):
        messages.append({"role": "assistant", "content": said})
    if reason == "tool_use":
        messages.append({"role": "user", "content": [result(tools, call) for call in calls]})
    return follow(ask, tools, body | {"messages": messages}, left - 1)


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and return its block."""
    text, failed = run_call(tools, call["name"], call["input"])
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}


class Driver:
    """Starts the recursion."""

    def start(self) -> Json:
        return started("messages-extra-call", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        tools, limit = offered(case["tools"]), case["options"].get("limit", LIMIT)
        body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
        if tools:
            body["tools"] = messages_tools(tools)
        return outcome(lambda: follow(service(case), tools, body, limit))
