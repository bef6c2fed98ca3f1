"""No fault: requests refer to stored items by their ids; outputs are lists of parts; many options; a queue of calls."""

import asyncio
import json

import httpx

from looptck.driver import error, handlers, started, value

OPTIONS = {
    "max_output_tokens": 4000,
    "parallel_tool_calls": True,
    "truncation": "disabled",
    "store": True,
    "metadata": {"desk": "weather"},
    "text": {"format": {"type": "text"}},
    "service_tier": "auto",
    "prompt_cache_key": "desk",
    "safety_identifier": "somebody",
}


class Halted(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Reader:
    """Splits the bytes of an event stream into the data of its events."""

    def __init__(self):
        self.held = b""

    def feed(self, piece):
        self.held += piece
        whole, found = self.held.replace(b"\r\n", b"\n"), []
        if whole.endswith(b"\r"):
            return found
        *blocks, self.held = whole.replace(b"\r", b"\n").split(b"\n\n")
        for block in blocks:
            lines = block.decode().removeprefix("\ufeff").split("\n")
            data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
            if data:
                found.append("\n".join(data))
        return found


async def followed(http, body, emit):
    reader = Reader()
    async with http.stream("POST", "/responses", json={**body, "stream": True}) as reply:
        if reply.status_code != 200:
            raise Halted("provider", f"{reply.status_code} {(await reply.aread()).decode()}")
        async for piece in reply.aiter_bytes():
            for data in reader.feed(piece):
                event = {} if data == "[DONE]" else json.loads(data) or {}
                kind = event.get("type")
                if kind == "response.output_text.delta":
                    emit(event["delta"])
                elif kind in ("response.completed", "response.incomplete", "response.failed"):
                    return event["response"]
                elif kind == "error":
                    raise Halted("provider", data)
    raise Halted("stream", "no last event")


async def whole(http, body):
    for pause in (0.1, 0.2, None):
        reply = await http.post("/responses", json=body)
        if reply.status_code == 200:
            return reply.json()
        if pause is None or reply.status_code not in (429, 500, 502, 503, 529):
            raise Halted("provider", f"{reply.status_code} {reply.text}")
        after = reply.headers.get("retry-after", "")
        await asyncio.sleep(float(after) if after.isdigit() else pause)


def sorted_out(response):
    """The text and the calls of a response that has ended well."""
    if response["status"] == "incomplete":
        why = (response.get("incomplete_details") or {}).get("reason")
        raise Halted("refusal" if why == "content_filter" else "truncated", f"not complete: {why}")
    if response["status"] != "completed":
        raise Halted("provider", json.dumps(response.get("error")))
    texts, calls = [], []
    for item in response["output"]:
        if item["type"] == "function_call":
            calls.append(item)
        elif item["type"] == "custom_tool_call":
            raise Halted("unknown-tool", item["name"])
        for part in item["content"] if item["type"] == "message" else ():
            if part["type"] == "refusal":
                raise Halted("refusal", part["refusal"])
            texts.append(part["text"])
    return "".join(texts), calls


async def worker(queue, functions, found):
    """Takes calls from the queue until it is empty."""
    while not queue.empty():
        place, call = queue.get_nowait()
        text, status = await outcome(call, functions)
        output = [{"type": "input_text", "text": text}]
        found[place] = {"type": "function_call_output", "call_id": call["call_id"], "output": output, "status": status}


async def outcome(call, functions):
    if call["name"] not in functions:
        return f"unknown: {call['name']}", "incomplete"
    try:
        arguments = json.loads(call["arguments"] or "{}")
        if not isinstance(arguments, dict):
            return f"not an object: {call['arguments']}", "incomplete"
        found = await functions[call["name"]](**arguments)
    except json.JSONDecodeError as problem:
        return f"not JSON: {problem}", "incomplete"
    except Exception as problem:
        return f"failed: {type(problem).__name__}: {problem}", "incomplete"
    return found if isinstance(found, str) else json.dumps(found, separators=(",", ":")), "completed"


async def loop(http, case, emit):
    functions = handlers(case)
    items = [
        {"role": "developer" if one["role"] == "system" else one["role"], "content": one["content"]}
        for one in case["messages"]
    ]
    body = {"model": case["model"], **OPTIONS}
    if case["tools"]:
        body["tools"] = [
            {"type": "function", "strict": False, **{key: tool[key] for key in ("name", "description", "parameters")}}
            for tool in case["tools"]
        ]
    for _ in range(case["options"].get("limit", 20)):
        asked = {**body, "input": items}
        response = await (followed(http, asked, emit) if case["stream"] else whole(http, asked))
        text, calls = sorted_out(response)
        if not calls:
            return text
        items += [{"type": "item_reference", "id": item["id"]} for item in response["output"]]
        queue, found = asyncio.Queue(), {}
        for numbered in enumerate(calls):
            queue.put_nowait(numbered)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(3, len(calls))):
                group.create_task(worker(queue, functions, found))
        items += [found[place] for place in sorted(found)]
    raise Halted("limit", "asked often enough")


class Driver:
    def start(self):
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "memory": True, "parallel": True}
        return started("responses by reference", "1", wires=["openai-responses"], modes=["async"], **able, cancel=True)

    async def run_async(self, case, emit):
        headers = {"authorization": f"Bearer {case['api_key']}"}
        async with httpx.AsyncClient(base_url=case["base_url"], headers=headers, timeout=60, trust_env=False) as http:
            try:
                return value(await loop(http, case, emit))
            except Halted as problem:
                return error(problem, problem.reason)
            except Exception as problem:
                return error(problem)
