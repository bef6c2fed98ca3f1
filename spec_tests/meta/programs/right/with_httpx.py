"""A right program in Python, which reads the stream itself: bytes, lines, events, calls."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx

TOOL = {
    "type": "function",
    "function": {
        "name": "note",
        "description": "Append a line to a file.",
        "parameters": {
            "type": "object",
            "properties": {"file": {"type": "string"}, "line": {"type": "string"}, "then": {"type": "string"}},
            "required": ["file", "line"],
        },
    },
}
ROUNDS = 40


class Trouble(Exception):
    """The task cannot go on."""


def events(reply: httpx.Response) -> Iterator[str]:
    """The data of the events of a stream."""
    pending, data = b"", []
    for piece in reply.iter_bytes():
        pending += piece
        *lines, pending = re.split(rb"\r\n|\n|\r(?!$)", pending)
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" ").decode())
            elif not line and data:
                yield "\n".join(data)
                data = []


def turn(client: httpx.Client, messages: list[Any], tools: list[Any]) -> tuple[str, list[dict[str, Any]], str]:
    """The text, the calls and the finish reason of the next turn."""
    body = {"model": os.environ["MODEL"], "messages": messages, "tools": tools, "stream": True}
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    latest: dict[Any, dict[str, Any]] = {}
    finish = ""
    with client.stream("POST", os.environ["BASE_URL"] + "/chat/completions", json=body) as reply:
        if reply.status_code != 200 or "event-stream" not in reply.headers.get("content-type", ""):
            raise Trouble(f"the service answered with {reply.status_code}")
        for data in events(reply):
            if data == "[DONE]":
                break
            event = json.loads(data)
            if "error" in event:
                raise Trouble(str(event["error"]))
            for choice in event.get("choices", ()):
                finish = finish or choice.get("finish_reason") or ""
                delta = choice.get("delta") or {}
                texts += [delta.get("content") or "", delta.get("refusal") or ""]
                if delta.get("refusal"):
                    finish = finish or "refusal"
                for piece in delta.get("tool_calls") or ():
                    index, id = piece.get("index"), piece.get("id")
                    call = latest.get(index)
                    if call is None or (id and id != call["id"]):
                        call = latest[index] = {"id": id, "name": "", "arguments": ""}
                        calls.append(call)
                    function = piece.get("function") or {}
                    call["name"] += (function.get("name") or "") if not call["name"] else ""
                    call["arguments"] += function.get("arguments") or ""
    if not finish:
        raise Trouble("the stream has no end")
    return "".join(texts), calls, finish


def result(call: dict[str, Any]) -> str:
    """Run a call; its result as text."""
    try:
        given = json.loads(call["arguments"] or "{}")
        if call["name"] != "note":
            return f"error: there is no tool {call['name']}"
        with open(given["file"], "a", encoding="utf-8") as file:
            file.write(given["line"] + "\n")
        if given.get("then") == "fail":
            return "error: it failed afterwards"
    except (ValueError, TypeError, KeyError, OSError) as error:
        return f"error: {type(error).__name__}: {error}"
    return "noted"


def main(prompt: str, tools: list[Any] | None = None, run: Callable[[dict[str, Any]], str] = result) -> int:
    """Do the task, with other tools than its own if there are some; the exit status."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    headers = {"authorization": "Bearer " + os.environ["KEY"]}
    with httpx.Client(headers=headers, timeout=60, trust_env=False) as client:
        for _ in range(ROUNDS):
            text, calls, finish = turn(client, messages, tools or [TOOL])
            if finish in {"length", "content_filter", "refusal"}:
                print(text)
                print(f"incomplete: {finish}", file=sys.stderr)
                return 2
            if not calls:
                print(text)
                return 0
            asked = [
                {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
                for one in calls
            ]
            messages.append({"role": "assistant", "content": text or None, "tool_calls": asked})
            messages += [{"role": "tool", "tool_call_id": one["id"], "content": run(one)} for one in calls]
    raise Trouble("too many rounds")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except (Trouble, httpx.HTTPError, ValueError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        sys.exit(1)
