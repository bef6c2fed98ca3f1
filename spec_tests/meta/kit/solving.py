"""A loop of Solutions that asks its model once and runs the calls in order, as a driver of ``agent-loop-010``."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

Json = dict[str, Any]


class Solves:
    """Takes plain replies on Chat Completions, and has a confirmation hook."""

    def start(self) -> Json:
        """Declare it."""
        return {
            "name": "solves",
            "version": "1.0",
            "language": "python",
            "wires": ["openai-chat"],
            "modes": ["async"],
            "profiles": ["agent-loop-010"],
            "capabilities": {"confirm": True, "latent": True},
        }

    async def run_async(self, case: Json, emit: Any) -> Json:
        """One Request, its calls, its output."""
        told = [message["text"] if message["type"] == "text" else json.dumps(message) for message in case["context"]]
        messages = [{"role": "user", "content": text} for text in [*told, json.dumps(case["output_schema"])]]
        reply = _post(case["base_url"] + "/chat/completions", {"model": case["model"], "messages": messages})
        solution = json.loads(reply["choices"][0]["message"]["content"])
        for proposed in solution["calls"]:
            asked = {"call": self.asked(proposed)}
            call = _decided(proposed, _post(case["confirm"], asked)) if "confirm" in case else proposed
            url = next((tool["url"] for tool in case["tools"] if call and tool["name"] == call["_tool"]), None)
            if call and url:
                _post(url, {"arguments": {key: value for key, value in call.items() if key[0] != "_"}})
        return {"kind": "value", "text": None, "output": solution["output"]}

    def asked(self, call: Json) -> Json:
        """What it asks about."""
        return call


class Unclaimed(Solves):
    """Forgets to claim the profile, and so gets cases without a context."""

    def start(self) -> Json:
        """Declare all but that."""
        return {**super().start(), "profiles": []}

    async def run_async(self, case: Json, emit: Any) -> Json:
        """One Request all the same; what comes back is no Solution."""
        try:
            return await super().run_async({"context": [], "output_schema": {}, **case}, emit)
        except ValueError as error:
            return {"kind": "error", "reason": "stream", "type": "ValueError", "message": str(error)}


class AsksLikeOthers(Solves):
    """Asks about a call in the words of a loop of tool calls."""

    def asked(self, call: Json) -> Json:
        """Its tool and its parameters."""
        return {"id": "c1", "name": call["_tool"], "arguments": {name: call[name] for name in call if name[0] != "_"}}


class Deaf(Solves):
    """Returns nothing, whatever the output."""

    async def run_async(self, case: Json, emit: Any) -> Json:
        """Forget the output."""
        return {**await super().run_async(case, emit), "output": None}


class Idle(Solves):
    """Runs no call."""

    async def run_async(self, case: Json, emit: Any) -> Json:
        """Know no tool."""
        return await super().run_async({**case, "tools": []}, emit)


def _decided(call: Json, decision: Json) -> Json | None:
    match decision:
        case {"decision": "change", "parameters": parameters}:
            return {**call, **parameters}
        case {"decision": "replace", "call": other}:
            return dict(other)
        case {"decision": "reject"}:
            return None
    return call


def _post(url: str, body: Json) -> Any:
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})  # noqa: S310 - the kit's
    with urlopen(request) as response:  # noqa: S310 - as above
        return json.load(response)
