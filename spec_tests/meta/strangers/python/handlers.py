"""Code that these drivers share: toolbox, texts for the model, event streams, and values of the protocol. No loop."""

# ruff: noqa: BLE001, S310, TRY004

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Json = dict[str, Any]
TIMEOUT = 60
LIMIT = 10
HTTP_PACKAGES = {"anthropic", "http", "httpx", "httpx2", "openai", "urllib"}


class Stopped(Exception):
    """The loop ends with an error, for a reason that the protocol defines."""

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word


class ToolFailed(Exception):
    """A tool raised."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def call_tool(tool: Json, arguments: Json) -> Any:
    """Call a tool of the case through the toolbox, and return its value."""
    body = json.dumps({"arguments": arguments}, allow_nan=False).encode()
    request = urllib.request.Request(tool["url"], body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply = json.load(response)
    if "error" in reply:
        raise ToolFailed(reply["error"]["type"], reply["error"]["message"])
    return reply["value"]


def as_text(value: Any) -> str:
    """Format a tool's value as text for the model."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def error_text(error: Exception) -> str:
    """Format an error as text for the model, never as an empty text."""
    kind = error.kind if isinstance(error, ToolFailed) else type(error).__name__
    return as_text(f"Error: {kind}: {str(error) or 'no message'}")


def read_arguments(raw: Any) -> Json:
    """Parse the arguments of a call; None and "" mean no arguments. A ValueError names the problem."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    if isinstance(raw, str):
        try:
            raw = json.loads(raw, parse_constant=refuse) if raw.strip() else {}
        except RecursionError:
            raise ValueError("the arguments are nested too deeply") from None
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise ValueError("the arguments are not a JSON object")
    return raw


def run_call(tools: dict[str, Json], name: Any, raw: Any) -> tuple[str, bool]:
    """Run one call. Return the text for the model, and whether the call failed."""
    tool = find(tools, name)
    if tool is None:
        return f"Error: there is no tool named {name!r}", True
    try:
        arguments = read_arguments(raw)
    except ValueError as error:
        return f"Error: the arguments cannot be read: {error}", True
    try:
        return as_text(call_tool(tool, arguments)), False
    except Exception as error:
        return error_text(error), True


def offered(tools: list[Json]) -> dict[str, Json]:
    """Give each tool a name that every service accepts; most keep their own."""
    legal = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    names = {tool["name"]: tool for tool in tools if legal.fullmatch(tool["name"])}
    for tool in tools:
        if not legal.fullmatch(tool["name"]):
            stem = name = re.sub(r"[^a-zA-Z0-9_-]", "_", tool["name"])[:60] or "tool"
            while name in names:
                name = f"{stem}_{len(names)}"
            names[name] = tool
    return names


def find(tools: dict[str, Json], name: Any) -> Json | None:
    """Find the tool that a call names, if there is one with a handler."""
    tool = tools.get(name) or next((tool for tool in tools.values() if tool["name"] == name), None)
    return tool if tool and tool["url"] else None


def schema(tool: Json) -> Any:
    """Return the JSON Schema to offer: the declared one, or its strict form."""
    return _strict(tool["parameters"]) if tool.get("strict") else tool["parameters"]


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    whole = {key: value if key in ("enum", "const", "default") else _strict(value) for key, value in part.items()}
    if part.get("type") == "object" and isinstance(part.get("properties"), dict):
        whole |= {"additionalProperties": False, "required": list(part["properties"])}
    return whole


def chat_tools(tools: dict[str, Json]) -> list[Json]:
    """Format the tools for Chat Completions."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": tool["description"], "parameters": schema(tool)}
            | ({"strict": True} if tool.get("strict") else {}),
        }
        for name, tool in tools.items()
    ]


def messages_tools(tools: dict[str, Json]) -> list[Json]:
    """Format the tools for Messages."""
    return [
        {"name": name, "description": tool["description"], "input_schema": {"type": "object"} | schema(tool)}
        | ({"strict": True} if tool.get("strict") else {})
        for name, tool in tools.items()
    ]


def responses_tools(tools: dict[str, Json]) -> list[Json]:
    """Format the tools for Responses, where `strict` defaults to true."""
    return [
        {
            "type": "function",
            "name": name,
            "description": tool["description"],
            "parameters": schema(tool),
            "strict": bool(tool.get("strict")),
        }
        for name, tool in tools.items()
    ]


def chat_turn(message: Json) -> Json:
    """Return the model's turn in the form of a request: members that only replies may have are removed."""
    turn = {"role": "assistant", "content": None}
    turn |= {
        key: value
        for key, value in message.items()
        if value is not None and key not in ("role", "annotations", "audio", "function_call", "refusal")
    }
    calls = []
    for call in message.get("tool_calls") or []:
        function = call.get("function")
        if function and not isinstance(function.get("arguments"), str):
            text = json.dumps(function.get("arguments") or {})
            call = {**call, "function": {**function, "arguments": text}}  # noqa: PLW2901
        calls.append(call)
    return turn | {"tool_calls": calls}


def blocks_back(content: list[Json]) -> list[Json]:
    """Return the blocks of a turn in the form of a request: unchanged, without empty texts."""
    return [block for block in content if block.get("type") != "text" or block["text"].strip()]


def messages_prompt(messages: list[Json]) -> Json:
    """Format a prompt for Messages, where the system prompt is separate from the conversation."""
    system = "\n\n".join(item["content"] for item in messages if item["role"] == "system")
    prompt: Json = {"messages": [item for item in messages if item["role"] != "system"]}
    return prompt | ({"system": system} if system else {})


def input_of(raw: str, given: Any) -> Json:
    """Return the input of a streamed call in the form of a request, which is always an object."""
    if not raw.strip():
        return given if isinstance(given, dict) else {}
    try:
        return read_arguments(raw)
    except ValueError:
        return {"INVALID_JSON": raw}


def responses_text(output: list[Json]) -> str:
    """Join the texts of a Responses reply; raise an error for a refusal."""
    parts = [part for item in output if item["type"] == "message" for part in item["content"]]
    refused = "".join(part.get("refusal") or "" for part in parts)
    if refused:
        raise Stopped("refusal", refused)
    return "".join(part["text"] for part in parts if part["type"] == "output_text")


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each event; lines end in CR, LF or both. An event without a blank line is dropped."""
    rest, after_cr = b"", False
    data: list[str] = []
    for chunk in chunks:
        fresh = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = fresh.endswith(b"\r")
        *lines, rest = re.split(rb"\r\n|\n|\r", rest + fresh)
        for line in lines:
            name, _, value = line.decode("utf-8", "replace").lstrip("\ufeff").partition(":")
            if not line and data:
                yield "\n".join(data)
                data = []
            elif name == "data":
                data.append(value.removeprefix(" "))


def started(name: str, wires: list[str], modes: list[str], **capabilities: bool) -> Json:
    """Describe a driver and its capabilities."""
    return {
        "protocol": 1,
        "name": name,
        "version": "1.0",
        "language": "python",
        "wires": wires,
        "modes": modes,
        "profiles": [],
        "capabilities": capabilities,
    }


def failure(error: Exception) -> Json:
    """Describe the failure of a run."""
    word = "provider" if type(error).__module__.partition(".")[0] in HTTP_PACKAGES else "other"
    if isinstance(error, Stopped):
        word = error.word
    return {"kind": "error", "reason": word, "type": type(error).__name__, "message": str(error)}


def outcome(loop: Callable[[], str]) -> Json:
    """Run a loop, and describe its outcome."""
    try:
        return {"kind": "value", "text": loop()}
    except Exception as error:
        return failure(error)
