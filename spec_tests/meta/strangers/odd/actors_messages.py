"""No fault: actors with mailboxes; a clerk asks the model, two workers run the calls, an office keeps the history."""

import asyncio
import json
import sys
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fixes" / "bases"))

from sse import Events

from looptck.driver import error, handlers, started, value

WORKERS = 2


class Trouble(Exception):
    """An end without an answer."""

    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Mailbox:
    """A queue whose letters carry the way back."""

    def __init__(self):
        self.letters = asyncio.Queue()

    async def ask(self, letter):
        reply = asyncio.get_running_loop().create_future()
        await self.letters.put((letter, reply))
        return await reply

    async def serve(self, work):
        while True:
            letter, reply = await self.letters.get()
            try:
                done = await work(letter)
            except Exception as problem:
                if not reply.cancelled():
                    reply.set_exception(problem)
            else:
                if not reply.cancelled():
                    reply.set_result(done)


class Clerk:
    """Asks the model."""

    def __init__(self, case, emit):
        self.case, self.emit = case, emit
        headers = {"x-api-key": case["api_key"], "anthropic-version": "2023-06-01"}
        self.http = httpx.AsyncClient(headers=headers, timeout=60, trust_env=False)
        self.url = case["base_url"].removesuffix("/v1") + "/v1/messages"

    def body(self, messages):
        system = [{"type": "text", "text": one["content"]} for one in self.case["messages"] if one["role"] == "system"]
        tools = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in self.case["tools"]
        ]
        body = {"model": self.case["model"], "max_tokens": 1500, "messages": messages, "stream": self.case["stream"]}
        return body | ({"system": system} if system else {}) | ({"tools": tools} if tools else {})

    async def work(self, messages):
        body, pause = self.body(messages), 0.1
        for rest in (3, 2, 1, 0):
            async with self.http.stream("POST", self.url, json=body) as answer:
                if answer.status_code == 200:
                    return await (self.followed(answer) if body["stream"] else whole(answer))
                said = (await answer.aread()).decode(errors="replace")
            if not rest or answer.status_code not in (408, 409, 429, 500, 502, 503, 504, 529):
                raise Trouble("provider", f"{answer.status_code}: {said}")
            try:
                wait = max(0.0, float(answer.headers["retry-after"]))
            except (KeyError, ValueError):
                wait = pause
            await asyncio.sleep(wait)
            pause *= 2

    async def followed(self, answer):
        message, blocks, texts, events = None, {}, {}, Events()
        async for piece in answer.aiter_bytes():
            for data in events.feed(piece):
                event = json.loads(data)
                at = event.get("index")
                match event["type"]:
                    case "message_start":
                        message = event["message"]
                        blocks = dict(enumerate(message.get("content") or []))
                    case "content_block_start":
                        blocks[at] = dict(event["content_block"])
                        self.emit(blocks[at].get("text") or "") if blocks[at].get("text") else None
                    case "content_block_delta":
                        self.grow(blocks[at], event["delta"], texts, at)
                    case "content_block_stop" if at in texts:
                        blocks[at]["input"] = read(texts[at])
                    case "message_delta":
                        message |= event["delta"]
                    case "message_stop":
                        return message | {"content": [blocks[at] for at in sorted(blocks)]}
                    case "error":
                        raise Trouble("stream", json.dumps(event["error"]))
        raise Trouble("stream", "the stream has no end")

    def grow(self, block, delta, texts, at):
        match delta["type"]:
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
                self.emit(delta["text"])
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                block["signature"] = block.get("signature", "") + delta["signature"]
            case "input_json_delta":
                texts[at] = texts.get(at, "") + delta["partial_json"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta["citation"]]


async def whole(answer):
    try:
        return json.loads(await answer.aread())
    except ValueError as problem:
        raise Trouble("stream", f"no JSON: {problem}") from problem


class Unread(dict):
    """What goes back in the place of an input that was no JSON object."""


def read(text):
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return Unread()
    return found if isinstance(found, dict) else Unread()


async def worked(functions, call):
    """One call, run by a worker; an error is a result too."""
    result = {"type": "tool_result", "tool_use_id": call["id"]}
    try:
        if isinstance(call["input"], Unread):
            raise ValueError("the input is no JSON object")
        if call["name"] not in functions:
            raise LookupError(f"no tool {call['name']}")
        found = await functions[call["name"]](**call["input"])
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        return result | {"is_error": True, "content": [{"type": "text", "text": said}]}
    text = found if isinstance(found, str) else json.dumps(found)
    return result | {"content": [{"type": "text", "text": text}] if text.strip() else []}


class Office:
    """Keeps the history and gives out the work."""

    def __init__(self, case, emit):
        self.case, self.clerk = case, Clerk(case, emit)
        functions = handlers(case)
        self.model, self.bench = Mailbox(), Mailbox()
        self.staff = [
            asyncio.create_task(self.model.serve(self.clerk.work)),
            *(asyncio.create_task(self.bench.serve(lambda call: worked(functions, call))) for _ in range(WORKERS)),
        ]

    async def close(self):
        for one in self.staff:
            one.cancel()
        await asyncio.gather(*self.staff, return_exceptions=True)
        await self.clerk.http.aclose()

    async def answer(self):
        messages = [one for one in self.case["messages"] if one["role"] != "system"]
        for _ in range(self.case["options"].get("limit", 18)):
            reply = await self.model.ask(messages)
            stop = reply.get("stop_reason")
            if stop in ("max_tokens", "model_context_window_exceeded"):
                raise Trouble("truncated", stop)
            if stop == "refusal":
                raise Trouble("refusal", "the model refuses")
            content = [block for block in reply["content"] if block["type"] != "text" or block["text"].strip()]
            if content:
                messages = [*messages, {"role": "assistant", "content": content}]
            calls = [block for block in content if block["type"] == "tool_use"]
            if stop == "pause_turn":
                continue
            if not calls:
                return "".join(block["text"] for block in reply["content"] if block["type"] == "text")
            results = await asyncio.gather(*map(self.bench.ask, calls))
            messages = [*messages, {"role": "user", "content": results}]
        raise Trouble("limit", "the office is closed")


class Driver:
    def start(self):
        able = {name: True for name in ("stream", "chunks", "limit", "concurrent", "parallel")}
        return started("actors", "1", wires=["anthropic-messages"], modes=["async"], **able)

    async def run_async(self, case, emit):
        office = Office(case, emit)
        try:
            return value(await office.answer())
        except Trouble as trouble:
            return error(trouble, trouble.reason)
        except Exception as problem:
            return error(problem)
        finally:
            await office.close()
