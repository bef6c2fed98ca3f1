"""A call of an unknown tool gets no output, and the service refuses the next request.

Function calling guide, Handling function calls: every function_call needs a function_call_output with its call_id.
Reported as livekit/agents#4352, open-webui/open-webui#25144 and, with the service's error, openai-agents-python#673.
"""

# ruff: noqa: BLE001
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    failure,
    find,
    offered,
    responses_text,
    responses_tools,
    run_call,
    started,
)


class Session:
    """The items of a run, and where they are sent."""

    def __init__(self, case: Json, client: httpx.AsyncClient) -> None:
        self.case, self.client, self.tools = case, client, offered(case["tools"])
        self.items: list[Json] = list(case["messages"])

    async def respond(self) -> list[Json]:
        """Ask for a response, and return its items."""
        body: Json = {"model": self.case["model"], "input": self.items, "store": False}
        body["include"] = ["reasoning.encrypted_content"]
        if self.tools:
            body["tools"] = responses_tools(self.tools)
        reply = (await self.client.post("responses", content=json.dumps(body))).raise_for_status().json()
        match reply.get("status"):
            case "completed":
                output: list[Json] = reply["output"]
                return output
            case "incomplete":
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            case status:
                raise Stopped("provider", f"{status}: {reply.get('error')}")

    async def follow(self, output: list[Json]) -> bool:
        """Run the calls among items, and say whether there were any."""
        self.items += output
        calls = [item for item in output if item["type"] in ("function_call", "custom_tool_call")]
        for call in calls:
            if call["type"] == "function_call" and find(self.tools, call["name"]) is None:
                continue
            known = self.tools if call["type"] == "function_call" else {}
            text, _ = await asyncio.to_thread(run_call, known, call["name"], call.get("arguments"))
            self.items.append({"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text})
        return bool(calls)

    async def run(self) -> str:
        """Go on until there are no calls."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            output = await self.respond()
            if not await self.follow(output):
                return responses_text(output)
        raise Stopped("limit", "too many turns")


class Driver:
    """Opens a session for each case."""

    def start(self) -> Json:
        return started("responses-unknown-skipped", ["openai-responses"], ["async"], limit=True, concurrent=True)

    async def run_async(self, case: Json, emit: Any) -> Json:
        headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
        client = httpx.AsyncClient(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False)
        try:
            async with client:
                return {"kind": "value", "text": await Session(case, client).run()}
        except Exception as error:
            return failure(error)
