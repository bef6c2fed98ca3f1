"""Chat Completions with the async client of OpenAI: always streams, calls run together, strict tools where they fit."""

import asyncio
import json
from contextlib import aclosing

from openai import AsyncOpenAI

from looptck.driver import error, handlers, started, value

MAX_TURNS = 12


class TurnsUsedUp(Exception):
    pass


class AnswerCut(Exception):
    pass


class AnswerRefused(Exception):
    pass


class StreamEnded(Exception):
    pass


REASONS = {TurnsUsedUp: "limit", AnswerCut: "truncated", AnswerRefused: "refusal", StreamEnded: "stream"}


def closed(schema):
    """Every object in a schema takes only what it names, as strict tools have to."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(one) for name, one in schema.items() if name != "properties"}
    if "properties" in schema:
        found["properties"] = {name: closed(one) for name, one in schema["properties"].items()}
        found["additionalProperties"] = False
    return found


def fits(schema):
    """Whether strict tools may have this schema: every parameter of every object is required."""
    if isinstance(schema, list):
        return all(fits(one) for one in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and set(properties) != set(schema.get("required", [])):
        return False
    return all(fits(one) for name, one in schema.items() if name != "properties") and all(
        map(fits, properties.values())
    )


def offered(tool):
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
    if tool.get("strict") and fits(tool["parameters"]):
        function |= {"strict": True, "parameters": closed(tool["parameters"])}
    return {"type": "function", "function": function}


async def pieces(client, **request):
    """The deltas of a reply with its finish reason; other choices than the first are not ours."""
    async with await client.chat.completions.create(**request, stream=True) as stream:
        async for chunk in stream:
            for choice in chunk.choices or []:
                yield choice.delta, choice.finish_reason


async def turn_of(client, request, emit):
    texts, refusals, calls, finish = [], [], [], None
    async with aclosing(pieces(client, **request)) as deltas:
        async for delta, reason in deltas:
            finish = reason or finish
            if delta is None:
                continue
            if delta.content:
                texts.append(delta.content)
                emit(delta.content)
            if delta.refusal:
                refusals.append(delta.refusal)
            for piece in delta.tool_calls or []:
                call = call_of(calls, piece)
                if piece.function:
                    call["name"] = call["name"] or piece.function.name or ""
                    call["arguments"] += piece.function.arguments or ""
    if finish is None:
        raise StreamEnded("no finish reason came")
    return "".join(texts), "".join(refusals), calls, finish


def call_of(calls, piece):
    same = [call for call in calls if call["index"] == piece.index and (not piece.id or call["id"] == piece.id)]
    if same:
        return same[-1]
    calls.append({"index": piece.index, "id": piece.id, "name": "", "arguments": ""})
    return calls[-1]


async def result(call, functions):
    try:
        function = functions[call["name"]]
        arguments = json.loads(call["arguments"] or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments are not an object")
        found = await function(**arguments)
    except KeyError:
        found = {"error": f"no tool is called {call['name']}"}
    except Exception as problem:
        found = {"error": f"{type(problem).__name__}: {problem}"}
    return {
        "role": "tool",
        "tool_call_id": call["id"],
        "content": found if isinstance(found, str) else json.dumps(found),
    }


async def converse(client, model, messages, tools, functions, emit, limit):
    request = {"model": model, "stream_options": {"include_usage": True}}
    if tools:
        request["tools"] = [offered(tool) for tool in tools]
    for _ in range(limit):
        text, refusal, calls, finish = await turn_of(client, {**request, "messages": messages}, emit)
        if finish == "length":
            raise AnswerCut(text)
        if refusal or finish == "content_filter":
            raise AnswerRefused(refusal or "filtered")
        if not calls:
            return [*messages, {"role": "assistant", "content": text}]
        said = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in calls
        ]
        turn = {"role": "assistant", "tool_calls": said}
        if text:
            turn["content"] = text
        results = await asyncio.gather(*(result(call, functions) for call in calls))
        messages = [*messages, turn, *results]
    raise TurnsUsedUp(f"{limit} requests")


class Driver:
    def __init__(self):
        self.histories = {}

    def start(self):
        able = {"stream": True, "plain": False, "chunks": True, "limit": True, "concurrent": True, "parallel": True}
        more = {"cancel": True, "conversations": True, "strict": True}
        return started("chat with the SDK", "1", wires=["openai-chat"], modes=["async"], **able, **more)

    async def run_async(self, case, emit):
        name = case.get("conversation")
        messages = [*self.histories.get(name, []), *case["messages"]]
        limit = case["options"].get("limit", MAX_TURNS)
        try:
            async with AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"], max_retries=2) as client:
                said = await converse(client, case["model"], messages, case["tools"], handlers(case), emit, limit)
        except Exception as problem:
            return error(problem, reasons=REASONS)
        if name:
            self.histories[name] = said
        return value(said[-1]["content"])
