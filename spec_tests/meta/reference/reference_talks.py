"""A history read as a service reads it, on each wire: questions, turns with the ids of their calls, and results."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from meta.reference.reference_replies import Json

Said = tuple[str, str, tuple[str, ...]]
"""What a part of a history is (`question`, `turn` or `results`), its text, and the ids of its calls."""


def talk(name: str, history: Sequence[Json]) -> list[Said]:
    """The parts of a history on the wire with this name; those of one turn, or of one round's results, are one part."""
    parts = [part for entry in history for part in READERS[name](entry)]
    joined: list[Said] = []
    for kind, group in groupby(parts, key=lambda part: part[0]):
        alike = list(group)
        if kind == "question":
            joined += alike
        else:
            joined.append((kind, "|".join(text for _, text, _ in alike if text), sum((ids for *_, ids in alike), ())))
    return joined


def is_legal(said: Sequence[Said]) -> bool:
    """Whether each turn that calls is answered directly behind it, once for each call, and nothing else is."""
    after = [*said[1:], ("end", "", ())]
    for (kind, _, ids), (following, _, answered) in zip(said, after, strict=True):
        if kind == "turn" and ids and (following != "results" or sorted(ids) != sorted(answered)):
            return False
    before = [("start", "", ()), *said]
    return all(first[2] for (kind, *_), first in zip(said, before, strict=False) if kind == "results")


def _chat(message: Json) -> list[Said]:
    if message["role"] == "tool":
        return [("results", message["content"], (message["tool_call_id"],))]
    if message["role"] == "user":
        return [("question", message["content"], ())]
    calls = message.get("tool_calls", [])
    assert calls or message.get("content") or message.get("refusal")
    return [("turn", message.get("refusal") or message["content"] or "", tuple(call["id"] for call in calls))]


def _messages(message: Json) -> list[Said]:
    if isinstance(message["content"], str):
        return [("question" if message["role"] == "user" else "turn", message["content"], ())]
    assert message["content"]
    return [_block(message["role"], block) for block in message["content"]]


def _block(role: str, block: Json) -> Said:
    match block["type"]:
        case "tool_result":
            assert role == "user"
            return "results", block["content"], (block["tool_use_id"],)
        case "tool_use":
            return "turn", "", (block["id"],)
    assert block["text"]
    return "turn", block["text"], ()


def _items(item: Json) -> list[Said]:
    match item.get("type"):
        case "function_call_output":
            return [("results", item["output"], (item["call_id"],))]
        case "function_call":
            return [("turn", "", (item["call_id"],))]
        case "message":
            return [("turn", part.get("text") or part.get("refusal"), ()) for part in item["content"]]
    return [("question" if item["role"] == "user" else "turn", item["content"], ())]


READERS: dict[str, Any] = {"openai-chat": _chat, "anthropic-messages": _messages, "openai-responses": _items}
