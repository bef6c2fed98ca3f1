"""Fragments of calls without an id are appended to the latest call, whatever their index.

Chat Completions, streaming, delta.tool_calls: `index` names the call of a fragment; the id is sent only once.
Reported as maximhq/bifrost#1829 and QwenLM/Qwen-Agent#943. Calls that are not interleaved are handled correctly.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, chat_tools, chat_turn, events, offered, outcome, run_call, started

if TYPE_CHECKING:
    from collections.abc import Generator

Turn = tuple[Json, str]


def plain(client: httpx.Client, body: Json) -> Generator[str, None, Turn]:
    """Request a plain reply."""
    reply = client.post("chat/completions", content=json.dumps(body)).raise_for_status().json()
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    yield from ()
    return reply["choices"][0]["message"], reply["choices"][0].get("finish_reason") or "stop"


def streamed(client: httpx.Client, body: Json) -> Generator[str, None, Turn]:
    """Request a stream, and yield its text."""
    message: Json = {"content": "", "refusal": "", "reasoning_content": "", "tool_calls": []}
    reason = None
    with client.stream("POST", "chat/completions", content=json.dumps(body | {"stream": True})) as response:
        if response.is_error:
            response.read()
        response.raise_for_status()
        for data in events(response.iter_bytes()):
            if data == "[DONE]":
                break
            chunk = json.loads(data)
            if chunk.get("error"):
                raise Stopped("stream", str(chunk["error"]))
            for choice in chunk.get("choices") or []:
                delta = choice.get("delta") or {}
                for key in ("content", "refusal", "reasoning_content"):
                    message[key] += delta.get(key) or ""
                for fragment in delta.get("tool_calls") or []:
                    add(message["tool_calls"], fragment)
                reason = reason or choice.get("finish_reason")
                if delta.get("content"):
                    yield delta["content"]
    if reason is None:
        raise Stopped("stream", "the stream ended without a finish reason")
    return {key: value for key, value in message.items() if value}, reason


def add(calls: list[Json], fragment: Json) -> None:
    """Append a fragment to its call."""
    call = next((call for call in calls if call["id"] == fragment.get("id")), None) if fragment.get("id") else None
    if (fragment.get("id") and call is None) or not calls:
        calls.append({"id": fragment.get("id"), "type": "function", "function": {"name": "", "arguments": ""}})
    function, said = (call or calls[-1])["function"], fragment.get("function") or {}
    if said.get("name") and said["name"] != function["name"]:
        function["name"] += said["name"]
    function["arguments"] += said.get("arguments") or ""


def loop(case: Json) -> Generator[str, None, str]:
    """Run the loop, and yield the text of all turns; return the last turn."""
    tools, history = offered(case["tools"]), list(case["messages"])
    ask = streamed if case["stream"] else plain
    headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
    with httpx.Client(base_url=case["base_url"], headers=headers, timeout=TIMEOUT, trust_env=False) as client:
        for _ in range(case["options"].get("limit", LIMIT)):
            body = {"model": case["model"], "messages": history} | ({"tools": chat_tools(tools)} if tools else {})
            message, reason = yield from ask(client, body)
            if message.get("refusal"):
                raise Stopped("refusal", message["refusal"])
            if reason in ("length", "content_filter"):
                raise Stopped("truncated", f"finish reason {reason}")
            turn = chat_turn(message)
            if not turn["tool_calls"]:
                return message.get("content") or ""
            history.append(turn)
            for call in turn["tool_calls"]:
                function = call.get("function") or {}
                text, _ = run_call(tools, function.get("name"), function.get("arguments"))
                history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise Stopped("limit", "too many turns")


class Driver:
    """Forwards the text that the loop yields."""

    def start(self) -> Json:
        wires = ["openai-chat"]
        return started("chat-ignored-index", wires, ["sync"], stream=True, chunks=True, limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        def drain() -> str:
            turns = loop(case)
            while True:
                try:
                    emit(next(turns))
                except StopIteration as end:
                    return str(end.value)

        return outcome(drain)
