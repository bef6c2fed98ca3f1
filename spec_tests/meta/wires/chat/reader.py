"""A reader of Chat Completions bodies and chunks, for the tests alone: it shares no code with the encoder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def said(events: Iterable[str]) -> dict[str, Any]:
    """What the chunks of one turn say together: text, refusal, calls by index, and the finish reasons."""
    turn: dict[str, Any] = {"text": None, "refusal": None, "calls": {}, "finish": []}
    for event in events:
        if event == "[DONE]":
            continue
        for choice in json.loads(event)["choices"]:
            delta = choice["delta"]
            for member, name in (("content", "text"), ("refusal", "refusal")):
                if delta.get(member) is not None:
                    turn[name] = (turn[name] or "") + delta[member]
            for part in delta.get("tool_calls") or []:
                call = turn["calls"].setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] += part.get("id", "")
                call["name"] += part["function"].get("name", "")
                call["arguments"] += part["function"].get("arguments", "")
            if choice["finish_reason"]:
                turn["finish"].append(choice["finish_reason"])
    return turn


def said_plainly(body: dict[str, Any]) -> dict[str, Any]:
    """What the body of one turn says: text, refusal, calls by index, and the finish reason."""
    (choice,) = body["choices"]
    message = choice["message"]
    calls = {
        index: {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
        for index, call in enumerate(message.get("tool_calls") or [])
    }
    return {
        "text": message["content"],
        "refusal": message["refusal"],
        "calls": calls,
        "finish": [choice["finish_reason"]],
    }
