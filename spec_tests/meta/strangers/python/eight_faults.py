"""A loop with eight faults at once, and the same loop with each of them alone.

A class below `Driver` has the one fault that its docstring states; `Driver` has them all.
"""

# ruff: noqa: BLE001, S310, TRY004
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    as_text,
    call_tool,
    chat_tools,
    chat_turn,
    error_text,
    find,
    offered,
    outcome,
    read_arguments,
    started,
)


class Driver:
    """Runs the loop, one case at a time or several."""

    def start(self) -> Json:
        return started("eight-faults", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: Loop(case, self.faults()).answer())

    def faults(self) -> set[type]:
        """The faults of the loop: its own class, or all."""
        return {type(self)} if type(self) in ALL else {*ALL}


class UserBetweenResults(Driver):
    """When a tool fails, a user message follows its result, before the remaining results."""


class BareParameters(Driver):
    """Types, `required` and descriptions of all parameters are missing in the offered tools."""


class NoAssistantTurns(Driver):
    """Earlier assistant turns are dropped from the prompt."""


class CutBeforeFirstToken(Driver):
    """An answer that was truncated before its first token is returned as an empty answer."""


class TextOfAnEarlierTurn(Driver):
    """The text of an earlier turn with calls is returned as the answer if the last turn is empty."""


class CachedCalls(Driver):
    """A second call with the same arguments is answered from a cache without running the tool."""


class NullArguments(Driver):
    """The loop crashes if the arguments of a call are null."""


class SilentError(Driver):
    """A tool exception without a message is answered with an empty result."""


ALL = (
    UserBetweenResults, BareParameters, NoAssistantTurns, CutBeforeFirstToken, TextOfAnEarlierTurn, CachedCalls,
    NullArguments, SilentError,
)  # fmt: skip


class Loop:
    """One run of the loop."""

    def __init__(self, case: Json, faults: set[type]) -> None:
        self.case = case
        self.faults = faults
        self.tools = offered(case["tools"])
        self.cache: dict[str, str] = {}

    def answer(self) -> str:
        """Ask the model, run its calls, and ask again until it answers."""
        prompt = self.case["messages"]
        if NoAssistantTurns in self.faults:
            prompt = [item for item in prompt if item["role"] != "assistant"]
        body: Json = {"model": self.case["model"], "messages": [*prompt]}
        if self.tools:
            body["tools"] = self.offer()
        said = ""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            choice = ask(self.case, body)["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            if message.get("refusal"):
                raise Stopped("refusal", message["refusal"])
            empty = not message.get("content") and not message.get("tool_calls")
            if reason == "content_filter" or (
                reason == "length" and not (empty and CutBeforeFirstToken in self.faults)
            ):
                raise Stopped("truncated", f"the turn was cut: {reason}")
            turn = chat_turn(message)
            said = message.get("content") or (said if TextOfAnEarlierTurn in self.faults else "")
            if not turn["tool_calls"]:
                return said
            body["messages"].append(turn)
            for call in (message if NullArguments in self.faults else turn)["tool_calls"]:
                text, failed = self.run(call)
                body["messages"].append({"role": "tool", "tool_call_id": call["id"], "content": text})
                if failed and UserBetweenResults in self.faults:
                    body["messages"].append({"role": "user", "content": "That tool failed. Think about what to do."})
        raise Stopped("limit", "the limit of model calls is reached")

    def offer(self) -> list[Json]:
        """The tools as the model gets them."""
        tools = chat_tools(self.tools)
        if BareParameters in self.faults:
            for tool in tools:
                names = tool["function"]["parameters"].get("properties", {})
                tool["function"] |= {"parameters": {"type": "object", "properties": {name: {} for name in names}}}
                tool["function"].pop("strict", None)
        return tools

    def run(self, call: Json) -> tuple[str, bool]:
        """Run one call; return its result, and whether it failed."""
        function = call.get("function") or {}
        key = json.dumps([function.get("name"), function.get("arguments")])
        if CachedCalls in self.faults and key in self.cache:
            return self.cache[key], False
        tool = find(self.tools, function.get("name"))
        if tool is None:
            return f"Error: there is no tool named {function.get('name')!r}", True
        try:
            arguments = self.read(function)
        except (ValueError, RecursionError) as error:
            return f"Error: the arguments cannot be read: {error}", True
        try:
            self.cache[key] = as_text(call_tool(tool, arguments))
            return self.cache[key], False
        except Exception as error:
            return "" if SilentError in self.faults and not str(error) else error_text(error), True

    def read(self, function: Json) -> Json:
        """The arguments of a call."""
        if NullArguments not in self.faults:
            return read_arguments(function.get("arguments"))
        raw = function["arguments"]
        arguments = raw if isinstance(raw, dict) else json.loads(raw.strip() or "{}")
        if not isinstance(arguments, dict):
            raise ValueError("they are not an object")
        return arguments


def ask(case: Json, body: Json) -> Json:
    """Send a request."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    request = urllib.request.Request(f"{case['base_url']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply: Json = json.load(response)
    if reply.get("error"):
        raise Stopped("provider", str(reply["error"]))
    return reply
