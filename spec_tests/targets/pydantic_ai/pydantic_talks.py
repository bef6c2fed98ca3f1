"""What a run of Pydantic AI goes on with: earlier messages, decisions about calls that wait, and other arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied, UsageLimits, messages

from looptck.driver import confirm

Json = dict[str, Any]


@dataclass(slots=True)
class Talk:
    """A conversation: the instructions of its agents, and what was said."""

    instructions: list[str]
    messages: list[messages.ModelMessage]


def arguments(case: Json, talk: Talk) -> dict[str, Any]:
    """The arguments of a run: the prompt is the last message, and what stands before it is history."""
    found: dict[str, Any] = {}
    history = [*talk.messages]
    if resume := case.get("resume"):
        parts = [part for message in history for part in message.parts]
        calls = {part.tool_call_id: part for part in parts if isinstance(part, messages.ToolCallPart)}
        decided = {one["id"]: _decided(one, calls[one["id"]]) for one in resume["decisions"]}
        found["deferred_tool_results"] = DeferredToolResults(approvals=decided)
    else:
        *before, prompt = (message for message in case["messages"] if message["role"] != "system")
        found["user_prompt"] = prompt["content"]
        history += _said(before)
    if history:
        found["message_history"] = history
    if "limit" in case["options"]:
        found["usage_limits"] = UsageLimits(request_limit=case["options"]["limit"])
    return found


def asking(case: Json) -> Callable[..., Any]:
    """Decides about all calls that wait, one after the other, while the run goes on."""

    async def ask(_: object, requests: DeferredToolRequests) -> Any:
        decided = {}
        for one in requests.approvals:
            decision = await asyncio.to_thread(confirm, case, one.tool_call_id, one.tool_name, one.args)
            decided[one.tool_call_id] = _decided(decision, one)
        return requests.build_results(approvals=decided)

    return ask


def _decided(decision: Json, call: messages.ToolCallPart) -> Any:
    match decision["decision"]:
        case "approve":
            return True
        case "change":
            return ToolApproved(override_args={**call.args_as_dict(), **decision["parameters"]})
        case _:
            return ToolDenied(decision["feedback"]) if decision.get("feedback") else ToolDenied()


def _said(given: list[Json]) -> list[messages.ModelMessage]:
    """Messages of earlier turns; results that follow each other are of one turn."""
    names = {call["id"]: call["name"] for message in given for call in message.get("calls", [])}
    found: list[messages.ModelMessage] = []
    for role, group in groupby(given, lambda message: message["role"]):
        if role == "tool":
            returned = [(names[one["call_id"]], one["content"], one["call_id"]) for one in group]
            found.append(messages.ModelRequest([messages.ToolReturnPart(*one) for one in returned]))
        elif role == "user":
            found += [messages.ModelRequest([messages.UserPromptPart(one["content"])]) for one in group]
        else:
            found += [messages.ModelResponse(_parts(one)) for one in group]
    return found


def _parts(message: Json) -> list[Any]:
    text = [messages.TextPart(message["content"])] if message["content"] else []
    made = [(call["name"], call["arguments"], call["id"]) for call in message.get("calls", [])]
    return [*text, *(messages.ToolCallPart(*one) for one in made)]
