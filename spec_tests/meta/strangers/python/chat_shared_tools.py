"""One agent stores the tools of its latest run, so with two concurrent runs the first calls the tools of the second.

A run has its own tools, messages and answer: no document of the service connects two requests.
Reported as open-multi-agent/open-multi-agent#72, agno-agi/agno#3120 and xorbitsai/xagent#1282. Single runs are correct.
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

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, failure, offered, run_call, started


class Agent:
    """An agent that does one job after the other."""

    def __init__(self) -> None:
        self.tools: dict[str, Json] = {}

    async def work(self, case: Json) -> str:
        """Do a job."""
        self.tools = offered(case["tools"])
        offer = chat_tools(self.tools)
        messages = list(case["messages"])
        headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
        async with httpx.AsyncClient(headers=headers, timeout=TIMEOUT, trust_env=False) as client:
            for _ in range(case["options"].get("limit", LIMIT)):
                body = {"model": case["model"], "messages": messages} | ({"tools": offer} if offer else {})
                url = f"{case['base_url']}/chat/completions"
                reply = (await client.post(url, content=json.dumps(body))).raise_for_status().json()
                turn = self.turn(reply)
                if not turn["tool_calls"]:
                    return turn["content"] or ""
                messages += [turn, *[await self.answer(call) for call in turn["tool_calls"]]]
        raise Stopped("limit", "too many turns")

    def turn(self, reply: Json) -> Json:
        """Return the turn of a reply, if it is complete."""
        match reply:
            case {"choices": [{"message": {"refusal": str(words)}}, *_]} if words:
                raise Stopped("refusal", words)
            case {"choices": [{"finish_reason": "length" | "content_filter" as reason}, *_]}:
                raise Stopped("truncated", f"finish reason {reason}")
            case {"choices": [{"message": message}, *_]}:
                return chat_turn(message)
        raise Stopped("provider", f"no choices: {reply.get('error')}")

    async def answer(self, call: Json) -> Json:
        """Run a call."""
        function = call.get("function") or {}
        ran = await asyncio.to_thread(run_call, self.tools, function.get("name"), function.get("arguments"))
        return {"role": "tool", "tool_call_id": call["id"], "content": ran[0]}


class Driver:
    """Uses one agent for all cases."""

    def __init__(self) -> None:
        self.agent = Agent()

    def start(self) -> Json:
        return started("chat-shared-tools", ["openai-chat"], ["async"], limit=True, concurrent=True)

    async def run_async(self, case: Json, emit: Any) -> Json:
        try:
            return {"kind": "value", "text": await self.agent.work(case)}
        except Exception as error:
            return failure(error)
