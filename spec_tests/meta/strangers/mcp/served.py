"""A right loop whose tools come from MCP servers alone: it has no other way to be given one.

Its driver hands it the address of the server that has the tools of the case. Without a prefix, without retries, all
calls of a turn at the same time.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from mcp.client import Client

from looptck.driver import Case, Outcome, Started, error, started, value


class Spent(Exception):
    """The most questions are asked."""


async def answer(url: str, model: str, talk: list[Any], servers: list[str], most: int) -> str:
    """Ask until the model has an answer."""
    async with Client(servers[0]) as tools, httpx.AsyncClient(base_url=url) as service:
        known = {tool.name: tool for tool in (await tools.list_tools()).tools}
        for _ in range(most):
            body = {"model": model, "messages": talk} | ({"tools": offer(known)} if known else {})
            reply = (await service.post("chat/completions", json=body)).raise_for_status().json()["choices"][0]
            said = reply["message"]
            if reply["finish_reason"] in {"length", "content_filter"} or said.get("refusal"):
                raise RuntimeError(f"{reply['finish_reason']}: {said.get('refusal')}")
            if not said.get("tool_calls"):
                return str(said["content"] or "")
            results = await asyncio.gather(*(result(tools, known, call) for call in said["tool_calls"]))
            talk = [*talk, {name: one for name, one in said.items() if one is not None}, *results]
    raise Spent(f"no answer after {most} questions")


def offer(known: dict[str, Any]) -> list[Any]:
    """The tools of the server, as the service takes them."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": tool.description, "parameters": tool.input_schema},
        }
        for name, tool in known.items()
    ]


async def result(tools: Client, known: dict[str, Any], call: Any) -> Any:
    """What the model is told of a call."""
    function = call["function"]
    return {"role": "tool", "tool_call_id": call["id"], "content": await told(tools, known, **function)}


async def told(tools: Client, known: dict[str, Any], name: str, arguments: str) -> str:
    """The text of a result."""
    try:
        given = json.loads(arguments or "{}")
    except ValueError as problem:
        return f"error: these arguments are no JSON: {problem}"
    if name not in known or not isinstance(given, dict):
        return f"error: {name} cannot be called so"
    found = await tools.call_tool(name, given)
    text = "\n".join(part.text for part in found.content if part.type == "text")
    return f"error: {text}" if found.is_error else text


class Driver:
    """Hands it the server of the case."""

    def start(self) -> Started:
        """Chat alone, and coroutines alone."""
        return started(
            "tools of servers", "1", wires=["openai-chat"], modes=["async"], limit=True, parallel=True, concurrent=True
        )

    async def run_async(self, case: Case, emit: Any) -> Outcome:
        """Run it as its users do."""
        try:
            most = case["options"].get("limit", 20)
            place = case["base_url"], case["model"], list(case["messages"])
            return value(await answer(*place, [case["tools_url"]], most))
        except Exception as exception:  # noqa: BLE001
            return error(exception, reasons={Spent: "limit"})
