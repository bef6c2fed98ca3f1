"""Only `properties` and `required` of a tool's schema are offered, so that a `$ref` in them has no target.

Tool use, Define tools: `input_schema` is the JSON Schema of the input. JSON Schema Core, 8.2: `$defs` is where
references lead.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, blocks_back, messages_prompt, offered, outcome, run_call, started


@dataclass(frozen=True)
class Offer:
    """A tool in the form of the offer."""

    name: str
    description: str
    properties: Json
    required: list[str]

    @classmethod
    def of(cls, name: str, tool: Json) -> Offer:
        """Read a tool of the case."""
        parameters = tool["parameters"]
        return cls(name, tool["description"], parameters.get("properties") or {}, parameters.get("required") or [])

    def body(self) -> Json:
        """Return the tool in the service's form."""
        schema = {"type": "object", "properties": self.properties, "required": self.required}  # the fault
        return {"name": self.name, "description": self.description, "input_schema": schema}


def loop(case: Json, client: httpx.Client) -> str:
    """Ask until the model stops for good."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "max_tokens": 4096, **messages_prompt(case["messages"])}
    body |= {"tools": [Offer.of(name, tool).body() for name, tool in tools.items()]} if tools else {}
    for _ in range(case["options"].get("limit", LIMIT)):
        reply = client.post("messages", json=body).raise_for_status().json()
        if "content" not in reply:
            raise Stopped("provider", str(reply))
        content, reason = reply["content"], reply.get("stop_reason")
        if reason in ("max_tokens", "model_context_window_exceeded"):
            raise Stopped("truncated", f"stop reason {reason}")
        if reason == "refusal":
            raise Stopped("refusal", str(reply.get("stop_details") or "the model refused"))
        calls = [block for block in content if block["type"] == "tool_use" and reason == "tool_use"]
        if not calls and reason not in ("pause_turn", "compaction"):
            return "".join(block["text"] for block in content if block["type"] == "text")
        if said := blocks_back(content):
            body["messages"] = [*body["messages"], {"role": "assistant", "content": said}]
        if calls:
            body["messages"] = [*body["messages"], {"role": "user", "content": [result(tools, call) for call in calls]}]
    raise Stopped("limit", "too many turns")


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and return its block."""
    text, failed = run_call(tools, call["name"], call["input"])
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("messages-lost-definitions", ["anthropic-messages"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}

        def talk() -> str:
            with httpx.Client(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False) as client:
                return loop(case, client)

        return outcome(talk)
