"""The chunk with the finish reason is treated as the end, and the delta in it is lost.

Chat Completions, streaming: a chunk has a delta and may have a finish reason beside it, and compatible servers write
both in one chunk.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, events, offered, outcome, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def deltas(response: httpx.Response) -> Iterator[Json]:
    """Yield the deltas of a stream, up to its finish reason."""
    for data in events(response.iter_raw()):
        chunk = json.loads(data) if data != "[DONE]" else {}
        if chunk.get("error"):
            raise Stopped("provider", str(chunk["error"]))
        for choice in chunk.get("choices") or []:
            if reason := choice.get("finish_reason"):  # the fault: the delta in the same chunk is ignored
                if reason in ("length", "content_filter"):
                    raise Stopped("truncated", f"finish reason {reason}")
                return
            yield choice.get("delta") or {}
    raise Stopped("stream", "the stream ended without a finish reason")


def place(calls: list[Json], piece: Json) -> Json:
    """Find the call that a piece belongs to, by index or id; a different id is a different call."""
    index, id = piece.get("index"), piece.get("id")
    near = [call for call in calls if (call["index"] == index if index is not None else not id or call["id"] == id)]
    if near and not (id and near[-1]["id"] and near[-1]["id"] != id):
        return near[-1]
    calls.append({"index": index, "id": id, "type": "function", "function": {"name": "", "arguments": ""}})
    return calls[-1]


def gather(response: httpx.Response, emit: Callable[[str], None]) -> Json:
    """Assemble a turn."""
    turn: Json = {"content": "", "refusal": "", "reasoning_content": ""}
    calls: list[Json] = []
    for delta in deltas(response):
        for key in turn:
            turn[key] += delta.get(key) or ""
        if delta.get("content"):
            emit(delta["content"])
        for piece in delta.get("tool_calls") or []:
            call, said = place(calls, piece), piece.get("function") or {}
            call["id"] = call["id"] or piece.get("id")
            if said.get("name") != call["function"]["name"]:
                call["function"]["name"] += said.get("name") or ""
            call["function"]["arguments"] += said.get("arguments") or ""
    if turn["refusal"]:
        raise Stopped("refusal", turn["refusal"])
    kept = [{key: value for key, value in call.items() if key != "index"} for call in calls]
    return {key: text for key, text in turn.items() if text} | {"tool_calls": kept}


def loop(case: Json, emit: Callable[[str], None]) -> str:
    """Ask until a turn has no calls."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "messages": list(case["messages"]), "stream": True}
    body |= {"tools": chat_tools(tools)} if tools else {}
    headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
    with httpx.Client(headers=headers, timeout=TIMEOUT, trust_env=False) as client:
        for _ in range(case["options"].get("limit", LIMIT)):
            url = f"{case['base_url']}/chat/completions"
            with client.stream("POST", url, content=json.dumps(body)) as response:
                response.raise_for_status()
                message = gather(response, emit)
            if not message["tool_calls"]:
                return message.get("content", "")
            body["messages"].append(chat_turn(message))
            for call in message["tool_calls"]:
                text, _ = run_call(tools, call["function"]["name"], call["function"]["arguments"])
                body["messages"].append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop, which only supports streams."""

    def start(self) -> Json:
        able = {"stream": True, "plain": False, "chunks": True, "limit": True, "concurrent": True}
        return started("chat-finish-beside-delta", ["openai-chat"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        return outcome(lambda: loop(case, emit))
