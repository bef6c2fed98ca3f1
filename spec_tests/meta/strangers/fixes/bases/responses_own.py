"""Responses without state at the service: items go back as they came, reasoning with its encrypted content.

Its choices: async httpx, calls together, approval by a suspended run whose state is JSON.
"""

import asyncio
import json

import httpx
from sse import Events

from looptck.driver import error, handlers, started, suspended, value


class Fault(Exception):
    """An end without an answer; its reason is the driver's word for it."""

    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


async def stream_of(http, body, emit):
    """The items of a streamed reply as they are done, and the response at its end."""
    items = {}
    async with http.stream("POST", "/responses", json={**body, "stream": True}) as answer:
        if answer.status_code != 200:
            await answer.aread()
            raise Fault("provider", answer.text)
        events = Events()
        async for piece in answer.aiter_bytes():
            for data in events.feed(piece):
                event = json.loads(data) if data != "[DONE]" else {"type": "done"}
                match event["type"]:
                    case "response.output_text.delta":
                        emit(event["delta"])
                    case "response.output_item.done":
                        items[event["output_index"]] = event["item"]
                    case "response.completed" | "response.incomplete" | "response.failed":
                        found = event["response"]
                        return {**found, "output": found.get("output") or [items[at] for at in sorted(items)]}
                    case "error":
                        raise Fault("provider", event.get("message") or data)
    raise Fault("stream", "the stream ended without a response")


async def plain(http, body):
    for attempt in range(3):
        answer = await http.post("/responses", json=body)
        if answer.status_code == 200:
            return answer.json()
        if answer.status_code not in (429, 500, 502, 503) or attempt == 2:
            raise Fault("provider", answer.text)
        try:
            await asyncio.sleep(float(answer.headers.get("retry-after", "")))
        except ValueError:
            await asyncio.sleep(0.2 * 2**attempt)


def sound(reply):
    if reply["status"] == "incomplete":
        why = (reply.get("incomplete_details") or {}).get("reason")
        raise Fault("refusal" if why == "content_filter" else "truncated", f"incomplete because of {why}")
    if reply["status"] != "completed":
        raise Fault("provider", json.dumps(reply.get("error")))
    return reply["output"]


def sendable(item):
    """An item of a reply as the next request may have it."""
    return {name: content for name, content in item.items() if name != "parsed_arguments"}


class Run:
    def __init__(self, case, emit):
        self.case, self.emit = case, emit
        self.functions = handlers(case)
        self.asks = {tool["name"] for tool in case["tools"] if tool.get("approval")}

    def request(self, items):
        body = {
            "model": self.case["model"],
            "input": items,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        tools = [
            {
                "type": "function",
                "strict": False,
                **{name: tool[name] for name in ("name", "description", "parameters")},
            }
            for tool in self.case["tools"]
        ]
        tools += [one["tool"] for one in self.case.get("hosted_tools", []) if "tool" in one]
        return {**body, "tools": tools} if tools else body

    async def go(self, items, left):
        headers = {"Authorization": f"Bearer {self.case['api_key']}"}
        async with httpx.AsyncClient(
            base_url=self.case["base_url"], headers=headers, timeout=60, trust_env=False
        ) as http:
            while left:
                left -= 1
                body = self.request(items)
                reply = await (stream_of(http, body, self.emit) if self.case["stream"] else plain(http, body))
                output = sound(reply)
                items = items + [sendable(item) for item in output]
                calls = [item for item in output if item["type"] == "function_call"]
                if not calls:
                    return value(answer_of(output))
                waiting = [call for call in calls if call["name"] in self.asks and parsed(call) is not None]
                if waiting:
                    return suspended({"items": items, "left": left}, [pending(call) for call in waiting])
                items = items + await self.outputs(calls, {})
        raise Fault("limit", "no turn is left")

    async def outputs(self, calls, decisions):
        return await asyncio.gather(*(self.output(call, decisions.get(call["call_id"])) for call in calls))

    async def output(self, call, decision):
        text = await self.text(call, decision)
        return {"type": "function_call_output", "call_id": call["call_id"], "output": text}

    async def text(self, call, decision):
        arguments = parsed(call)
        if arguments is None:
            return "These arguments are not a JSON object."
        if decision and decision["decision"] == "reject":
            return f"The user rejected this call. {decision.get('feedback', '')}"
        if decision and decision["decision"] == "change":
            arguments = decision["parameters"]
        if call["name"] not in self.functions:
            return f"There is no tool {call['name']!r}."
        try:
            found = await self.functions[call["name"]](**arguments)
        except Exception as problem:
            return f"{type(problem).__name__}: {problem}"
        return found if isinstance(found, str) else json.dumps(found)

    async def resumed(self, resume):
        items, left = resume["state"]["items"], resume["state"]["left"]
        done = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
        calls = [item for item in items if item.get("type") == "function_call" and item["call_id"] not in done]
        decisions = {one["id"]: one for one in resume["decisions"]}
        return await self.go(items + await self.outputs(calls, decisions), left)


def parsed(call):
    try:
        arguments = json.loads(call["arguments"] or "{}")
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def pending(call):
    return {"id": call["call_id"], "name": call["name"], "arguments": parsed(call)}


def answer_of(output):
    parts = [part for item in output if item["type"] == "message" for part in item["content"]]
    refusals = [part["refusal"] for part in parts if part["type"] == "refusal"]
    if refusals:
        raise Fault("refusal", "".join(refusals))
    return "".join(part["text"] for part in parts if part["type"] == "output_text")


def said(message):
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["call_id"], "output": message["content"]}]
    found = [{"role": message["role"], "content": message["content"]}] if message["content"] else []
    calls = message.get("calls", [])
    return found + [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
        }
        for call in calls
    ]


class Driver:
    def start(self):
        able = {name: True for name in ("stream", "chunks", "limit", "concurrent", "parallel", "cancel", "suspend")}
        more = {"travels": True, "changes": True, "histories": True, "hosted_others": True}
        return started("responses of our own", "1", wires=["openai-responses"], modes=["async"], **able, **more)

    async def run_async(self, case, emit):
        run = Run(case, emit)
        try:
            if "resume" in case:
                return await run.resumed(case["resume"])
            items = [item for message in case["messages"] for item in said(message)]
            return await run.go(items, case["options"].get("limit", 20))
        except Fault as fault:
            return error(fault, fault.reason)
        except Exception as problem:
            return error(problem)
