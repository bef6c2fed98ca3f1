"""A loop in a few lines of the standard library, and its driver: run by a process of its own."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from looptck import driver
from looptck.driver import Case, Emit, Outcome, Started, error, handlers, started, value


class Driver(driver.Driver):
    """Asks Chat Completions for plain replies."""

    def start(self) -> Started:
        return started("a few lines", "1.0", wires=["openai-chat"], modes=["sync"], limit=True)

    def run(self, case: Case, emit: Emit) -> Outcome:
        try:
            return value(loop(case))
        except Exception as exception:  # noqa: BLE001 - whatever ends the loop is its outcome
            return error(exception)


def loop(case: Case) -> str:
    """The final text."""
    functions = handlers(case)
    offered = [{name: tool[name] for name in ("name", "description", "parameters")} for tool in case["tools"]]
    messages: list[Any] = [*case["messages"]]
    for _ in range(case["options"].get("limit", 10)):
        body = {"model": case["model"], "messages": messages}
        body |= {"tools": [{"type": "function", "function": one} for one in offered]} if offered else {}
        request = urllib.request.Request(f"{case['base_url']}/chat/completions", json.dumps(body).encode())  # noqa: S310
        request.add_header("content-type", "application/json")
        request.add_header("authorization", f"Bearer {case['api_key']}")
        with urllib.request.urlopen(request) as response:  # noqa: S310
            message = json.load(response)["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            result = functions[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            text = result if isinstance(result, str) else json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise RecursionError("the limit is reached")
