"""Messages over async httpx: blocks go back as they came, calls together, a title asked beside the loop."""

import asyncio
import json

import httpx
from sse import Events

from looptck.driver import error, handlers, started, value


class Stopped(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Service:
    def __init__(self, case):
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}
        base = case["base_url"].removesuffix("/v1")
        self.http = httpx.AsyncClient(base_url=base, headers=headers, timeout=60, trust_env=False)

    async def whole(self, body):
        for attempt in range(4):
            answer = await self.http.post("/v1/messages", json=body)
            if answer.status_code == 200:
                return answer.json()
            if attempt == 3 or answer.status_code not in (408, 429, 500, 502, 503, 529):
                raise Stopped("provider", answer.text)
            await asyncio.sleep(pause(answer, attempt))

    async def streamed(self, body, emit):
        for attempt in range(4):
            async with self.http.stream("POST", "/v1/messages", json={**body, "stream": True}) as answer:
                if answer.status_code == 200:
                    return await read(answer, emit)
                await answer.aread()
            if attempt == 3 or answer.status_code not in (408, 429, 500, 502, 503, 529):
                raise Stopped("provider", answer.text)
            await asyncio.sleep(pause(answer, attempt))


def pause(answer, attempt):
    try:
        return float(answer.headers["retry-after"])
    except (KeyError, ValueError):
        return 0.2 * 2**attempt


async def read(answer, emit):
    """The message that a stream builds up."""
    message, blocks, partial, events = {}, {}, {}, Events()
    async for piece in answer.aiter_bytes():
        for data in events.feed(piece):
            event = json.loads(data)
            kind = event["type"]
            if kind == "message_start":
                message = event["message"]
            elif kind == "content_block_start":
                blocks[event["index"]] = event["content_block"]
                if event["content_block"].get("text"):
                    emit(event["content_block"]["text"])
            elif kind == "content_block_delta":
                grow(blocks[event["index"]], event["delta"], partial, event["index"], emit)
            elif kind == "content_block_stop" and event["index"] in partial:
                blocks[event["index"]]["input"] = input_of(partial[event["index"]])
            elif kind == "message_delta":
                message |= event["delta"]
            elif kind == "message_stop":
                return {**message, "content": [blocks[at] for at in sorted(blocks)] or message.get("content", [])}
            elif kind == "error":
                raise Stopped("stream", json.dumps(event["error"]))
    raise Stopped("stream", "the stream broke off")


def grow(block, delta, partial, index, emit):
    if delta["type"] == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
        emit(delta["text"])
    elif delta["type"] == "thinking_delta":
        block["thinking"] = block.get("thinking", "") + delta["thinking"]
    elif delta["type"] == "signature_delta":
        block["signature"] = block.get("signature", "") + delta["signature"]
    elif delta["type"] == "input_json_delta":
        partial[index] = partial.get(index, "") + delta["partial_json"]
    elif delta["type"] == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta["citation"]]


class NoObject(dict):
    """What stands for arguments that are no JSON object: empty, with the text that came."""

    said = ""


def input_of(text):
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    broken = NoObject()
    broken.said = text
    return broken


def request_of(case, system, messages):
    body = {"model": case["model"], "max_tokens": 2048, "messages": messages}
    if system:
        body["system"] = [{"type": "text", "text": system}]
    tools = [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in case["tools"]
    ]
    for hosted in case.get("hosted_tools", []):
        tools.append(hosted.get("tool") or {"type": "web_search_20250305", "name": "web_search"})
    return {**body, "tools": tools} if tools else body


async def title(service, case):
    """A title for the sidebar; nobody minds if there is none."""
    ask = {"role": "user", "content": "Write a title of four words for a chat."}
    try:
        await service.http.post("/v1/messages", json={"model": case["model"], "max_tokens": 20, "messages": [ask]})
    except httpx.HTTPError:
        pass


async def result(call, functions):
    found = {"type": "tool_result", "tool_use_id": call["id"]}
    if isinstance(call["input"], NoObject):
        return {**found, "is_error": True, "content": f"The input is no JSON object: {call['input'].said}"}
    if call["name"] not in functions:
        return {**found, "is_error": True, "content": f"There is no tool {call['name']}."}
    try:
        content = await functions[call["name"]](**call["input"])
    except Exception as problem:
        return {**found, "is_error": True, "content": f"{type(problem).__name__}: {problem}"}
    if content is None or content == "":
        return found
    return {**found, "content": content if isinstance(content, str) else json.dumps(content)}


def back(block):
    """A block as it goes back: the service takes no empty text."""
    return None if block["type"] == "text" and not block["text"].strip() else block


async def loop(service, case, system, messages, emit):
    functions = handlers(case)
    for _ in range(case["options"].get("limit", 25)):
        body = request_of(case, system, messages)
        message = await (service.streamed(body, emit) if case["stream"] else service.whole(body))
        stop, content = message.get("stop_reason"), message["content"]
        calls = [block for block in content if block["type"] == "tool_use"]
        if stop in ("max_tokens", "model_context_window_exceeded"):
            raise Stopped("truncated", f"the answer ended at {stop}")
        if stop == "refusal":
            raise Stopped("refusal", "the model refuses")
        kept = [block for block in map(back, content) if block]
        if kept:
            messages.append({"role": "assistant", "content": kept})
        if calls and stop != "pause_turn":
            results = await asyncio.gather(*(result(call, functions) for call in calls))
            messages.append({"role": "user", "content": list(results)})
        elif stop != "pause_turn":
            return "".join(block["text"] for block in content if block["type"] == "text")
    raise Stopped("limit", "too many turns")


def said(message):
    return {"role": message["role"], "content": message["content"]}


class Driver:
    def __init__(self):
        self.conversations = {}

    def start(self):
        able = {name: True for name in ("stream", "chunks", "limit", "concurrent", "parallel", "cancel")}
        more = {"hosted": True, "hosted_others": True, "conversations": True}
        return started("messages over httpx", "1", wires=["anthropic-messages"], modes=["async"], **able, **more)

    async def run_async(self, case, emit):
        key = case.get("conversation")
        system = "\n\n".join(one["content"] for one in case["messages"] if one["role"] == "system")
        before_system, before = self.conversations.get(key, ("", []))
        system = system or before_system
        messages = [*before, *(said(one) for one in case["messages"] if one["role"] != "system")]
        service = Service(case)
        aside = asyncio.create_task(title(service, case)) if case["tools"] else None
        try:
            text = await loop(service, case, system, messages, emit)
        except Stopped as stop:
            return error(stop, stop.reason)
        except Exception as problem:
            return error(problem)
        finally:
            if aside:
                aside.cancel()
            await service.http.aclose()
        if key:
            self.conversations[key] = system, messages
        return value(text)
