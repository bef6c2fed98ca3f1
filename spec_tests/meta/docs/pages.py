"""The project's documents, and what stands in them: code blocks, tables between two marks, places of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in FILES}
"""The text of each document, by its path."""

LOOP = """
import json, urllib.request

def run_loop(base_url, api_key, model, messages, tools, max_turns=None):
    handlers = {tool["name"]: handler for tool, handler in tools}
    functions = [{k: tool[k] for k in ("name", "description", "parameters")} for tool, _ in tools]
    offered = [{"type": "function", "function": function} for function in functions]
    messages = list(messages)
    for _ in range(max_turns or 10):
        body = json.dumps({"model": model, "messages": messages, "tools": offered}).encode()
        headers = {"authorization": "Bearer " + api_key, "content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(base_url + "/chat/completions", body, headers)) as response:
            message = json.load(response)["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        messages.append({k: message[k] for k in ("role", "content", "tool_calls")})
        for call in message["tool_calls"]:
            result = handlers[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
    raise RuntimeError("limit")
"""
"""The loop of twenty lines that README's driver calls."""

ASYNC_LOOP = """
import json
from openai import AsyncOpenAI

async def run_loop_async(base_url, api_key, *rest, **options):
    async with AsyncOpenAI(base_url=base_url, api_key=api_key) as client:
        return await loop(client, *rest, **options)

class TooManyTurns(Exception):
    pass

async def loop(client, model, messages, tools, on_text=None, max_turns=10):
    handlers = {tool["name"]: handler for tool, handler in tools}
    functions = [{k: tool[k] for k in ("name", "description", "parameters")} for tool, _ in tools]
    offered = [{"type": "function", "function": function} for function in functions]
    messages = list(messages)
    for _ in range(max_turns):
        request = {"model": model, "messages": messages, "tools": offered}
        if on_text is None:
            message = (await client.chat.completions.create(**request)).choices[0].message
        else:
            async with client.chat.completions.stream(**request) as stream:
                async for event in stream:
                    if event.type == "content.delta":
                        on_text(event.delta)
                message = (await stream.get_final_completion()).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in message.tool_calls:
            result = await handlers[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
    raise TooManyTurns("no answer")
"""
"""A loop that the page on Python calls, async and streaming."""

SERVED_LOOP = """\
import json

import openai
from mcp.client import Client


async def run_loop_async(base_url, api_key, model, messages, servers):
    messages = list(messages)
    async with Client(*servers) as tools, openai.AsyncOpenAI(base_url=base_url, api_key=api_key) as client:
        offered = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in (await tools.list_tools()).tools
        ]
        while True:
            reply = await client.chat.completions.create(model=model, messages=messages, tools=offered or openai.omit)
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
            for call in message.tool_calls:
                result = await tools.call_tool(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.content[0].text})
"""
"""A loop that takes tools from MCP servers alone."""


@dataclass(frozen=True, slots=True)
class Block:
    """A code block of a document."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> Iterator[Block]:
    """The code blocks of all documents, or those in these languages."""
    for page, text in PAGES.items():
        for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            if not languages or found[1] in languages:
                yield Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2])


def block(page: str, words: str) -> str:
    """The one block of a page that has these words. Raises ValueError where there is none, or another one."""
    (found,) = [one.text for one in blocks() if one.page == page and words in one.text]
    return found


def between(page: str, mark: str) -> str:
    """What stands between `<!-- mark: … -->` and `<!-- end of mark -->`."""
    found = re.search(rf"<!-- {mark}:.*?-->\n(.*?)\n?<!-- end of {mark} -->", PAGES[page], re.DOTALL)
    assert found, f"{page} has no {mark}"
    return found[1]


def rows(page: str, first: str) -> list[list[str]]:
    """The rows of the table of a page whose first column has this name, each as its cells."""
    table = PAGES[page].partition(f"\n| {first} | ")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


SESSION = """
import json

import httpx


class Session:
    def __init__(self):
        self.messages = []

    async def ask(self, base_url, api_key, model, messages, tools):
        said = [*self.messages, *messages]
        functions = {tool["name"]: function for tool, function in tools}
        offered = [
            {"type": "function", "function": {name: tool[name] for name in ("name", "description", "parameters")}}
            for tool, _ in tools
        ]
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while True:
                asked = {"model": model, "messages": said, "tools": offered}
                reply = await client.post(f"{base_url}/chat/completions", json=asked)
                message = reply.raise_for_status().json()["choices"][0]["message"]
                said.append({name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)})
                for call in message.get("tool_calls") or []:
                    arguments = json.loads(call["function"]["arguments"] or "{}")
                    result = await functions[call["function"]["name"]](**arguments)
                    said.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
                if not message.get("tool_calls"):
                    self.messages = said
                    return message["content"]
"""
"""A session whose runs leave nothing behind unless they end with an answer."""


SOLVER = """
import json, urllib.request

class OutOfTurns(Exception):
    pass

def solve(base_url, api_key, model, context, tools, output_schema, confirm=lambda call: {}, max_turns=10):
    functions = {tool["name"]: function for tool, function in tools}
    offered = {tool["name"]: tool["parameters"] for tool, _ in tools}
    told = [{"output": output_schema}, {"type": "tool", "tool": offered}, *context]
    for _ in range(max_turns):
        texts = [message.get("text") or json.dumps(message) for message in told]
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": text} for text in texts]}).encode()
        headers = {"authorization": "Bearer " + api_key, "content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(base_url + "/chat/completions", body, headers)) as response:
            solution = json.loads(json.load(response)["choices"][0]["message"]["content"])
        for call in solution["calls"]:
            decision = confirm(call)
            if decision.get("decision") == "reject":
                told.append({"type": "data", "data": {"call": call, "error": decision["feedback"]}})
                continue
            call = decision.get("call") or {**call, **decision.get("parameters", {})}
            result = functions[call["_tool"]](**{name: value for name, value in call.items() if name[0] != "_"})
            if "_outputPath" in call:
                told.append({"type": "data", "at": call["_outputPath"], "data": result})
        if solution["output"] is not None:
            return solution["output"]
    raise OutOfTurns("no output")
"""
"""A loop that the page on Solutions calls: it runs calls one after the other, and knows no references."""
