"""A reader of event streams and of Chat Completions chunks, for the tests alone: it shares no code with anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any


def data_of(stream: bytes) -> list[str]:
    """The data of each event that was dispatched, by the rules of the WHATWG HTML standard, section 9.2."""
    text = stream.decode().removeprefix("\ufeff")
    events, data = [], list[str]()
    for line in re.split("\r\n|\n|\r", text)[:-1]:
        if not line:
            if data:
                events.append("\n".join(data))
            data = []
        elif line.partition(":")[0] == "data":
            data.append(line.partition(":")[2].removeprefix(" "))
    return events


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
