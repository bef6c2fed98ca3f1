"""Hyphens in tool names are offered as underscores, and a call by this name finds no tool.

Responses, tools: a name may have letters, digits, underscores and hyphens; a call names a tool as it was offered.
Reported as IBM/chuk-llm#4 and NousResearch/hermes-agent#82876. Names without a hyphen are handled correctly.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import http.client
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, offered, outcome, responses_text, responses_tools, run_call, started


def post(case: Json, body: Json) -> Json:
    """Send a request, and return the response."""
    url = urlsplit(case["base_url"])
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    with closing(http.client.HTTPConnection(url.netloc, timeout=TIMEOUT)) as connection:
        connection.request("POST", f"{url.path}/responses", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        text = response.read()
    if response.status != http.HTTPStatus.OK:
        raise Stopped("provider", f"status {response.status}: {text[:500]!r}")
    reply: Json = json.loads(text)
    return reply


def offer(tools: dict[str, Json]) -> list[Json]:
    """Offer the tools, by names that could be those of functions in Python."""
    return [tool | {"name": tool["name"].replace("-", "_")} for tool in responses_tools(tools)]


def output(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and write its output."""
    text, _ = run_call(tools if call["type"] == "function_call" else {}, call["name"], call.get("arguments"))
    return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}


def loop(case: Json) -> str:
    """Ask until the model calls nothing."""
    tools = offered(case["tools"])
    body: Json = {
        "model": case["model"],
        "input": list(case["messages"]),
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    if tools:
        body["tools"] = offer(tools)
    left = case["options"].get("limit", LIMIT)
    while left > 0:
        left -= 1
        reply = post(case, body)
        if reply.get("status") == "incomplete":
            raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
        if reply.get("status") != "completed":
            raise Stopped("provider", f"{reply.get('status')}: {reply.get('error')}")
        calls = [item for item in reply["output"] if item["type"] in ("function_call", "custom_tool_call")]
        if not calls:
            return responses_text(reply["output"])
        body["input"] += [*reply["output"], *(output(tools, call) for call in calls)]
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("responses-plain-names", ["openai-responses"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
