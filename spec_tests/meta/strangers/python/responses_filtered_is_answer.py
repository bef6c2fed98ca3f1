"""A response that the content filter truncated is returned as the answer; only the token limit is reported as an error.

Responses, status and incomplete_details: the reason of an incomplete response is max_output_tokens or content_filter.
Similar to NousResearch/hermes-agent#55637, langchain4j/langchain4j#6181 and openai-agents-python#4188.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from openai import OpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, offered, outcome, responses_text, responses_tools, run_call, started


class Run:
    """One run of the loop."""

    def __init__(self, client: OpenAI, case: Json) -> None:
        self.client, self.tools = client, offered(case["tools"])
        self.items: list[Json] = list(case["messages"])
        self.options: Json = {"model": case["model"], "store": False, "include": ["reasoning.encrypted_content"]}
        if self.tools:
            self.options["tools"] = responses_tools(self.tools)

    def go(self, limit: int) -> str:
        """Take turns until one is the answer."""
        for _ in range(limit):
            answer = self.turn()
            if answer is not None:
                return answer
        raise Stopped("limit", "too many turns")

    def turn(self) -> str | None:
        """Take a turn. Return its text if it is the last."""
        reply: Json = self.client.responses.create(**self.options, input=self.items).to_dict(warnings=False)
        status, output = reply.get("status"), reply.get("output") or []
        why = (reply.get("incomplete_details") or {}).get("reason")
        if status == "incomplete" and why == "content_filter":
            return responses_text(output)
        if status == "incomplete":
            raise Stopped("truncated", f"the response is incomplete: {why}")
        if status != "completed":
            raise Stopped("provider", f"{status}: {reply.get('error')}")
        calls = [item for item in output if item["type"] in ("function_call", "custom_tool_call")]
        if not calls:
            return responses_text(output)
        self.items += [*output, *(self.result(call) for call in calls)]
        return None

    def result(self, call: Json) -> Json:
        """Run a call, and write its output."""
        known = self.tools if call["type"] == "function_call" else {}
        text, _ = run_call(known, call["name"], call.get("arguments"))
        return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}


class Driver:
    """Makes a run for each case."""

    def start(self) -> Json:
        return started("responses-filtered-is-answer", ["openai-responses"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        def go() -> str:
            with OpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client:
                return Run(client, case).go(case["options"].get("limit", LIMIT))

        return outcome(go)
