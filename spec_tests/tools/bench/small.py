"""A loop of a few lines without dependencies: what a run of the suite takes on it is the kit's own time."""

from __future__ import annotations

import json
from typing import Any

from looptck.driver import Emit, Outcome, Started, error, handlers, post, started, value


class Driver:
    """Asks Chat Completions until no tool is called."""

    def start(self) -> Started:
        """One cell, and no capabilities."""
        return started("small", "1", wires=["openai-chat"], modes=["sync"])

    def run(self, case: Any, emit: Emit) -> Outcome:
        """The answer, or the error that ended the loop."""
        functions = handlers(case, "sync")
        offered = [{"type": "function", "function": {k: tool[k] for k in TOLD}} for tool in case["tools"]]
        messages: list[Any] = [*case["messages"]]
        try:
            while True:
                body = {"model": case["model"], "messages": messages, "tools": offered}
                turn = post(f"{case['base_url']}/chat/completions", body)["choices"][0]["message"]
                if not turn.get("tool_calls"):
                    return value(turn["content"])
                messages.append(turn)
                for call in turn["tool_calls"]:
                    result = functions[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
        except Exception as failed:  # noqa: BLE001  whatever ends the loop is its outcome
            return error(failed)


TOLD = ("name", "description", "parameters")
