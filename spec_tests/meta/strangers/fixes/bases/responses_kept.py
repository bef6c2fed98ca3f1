"""Responses with the state of the service: a request has only what is new and names the last reply.

Its choices: sync httpx, calls one after the other, instructions beside the input in every request.
"""

import json

import httpx
from sse import Events

from looptck.driver import error, handlers, started, value


class Limit(Exception):
    pass


class Cut(Exception):
    pass


class Refusal(Exception):
    pass


class Failure(Exception):
    pass


class Ended(Exception):
    pass


REASONS = {Limit: "limit", Cut: "truncated", Refusal: "refusal", Failure: "provider", Ended: "stream"}
ENDS = ("response.completed", "response.incomplete", "response.failed")


class Thread:
    """A conversation that the service keeps: all that we know of it is its last reply."""

    def __init__(self, last=None):
        self.last = last
        self.instructions = ""


class Client:
    def __init__(self, case):
        headers = {"Authorization": f"Bearer {case['api_key']}"}
        self.http = httpx.Client(base_url=case["base_url"], headers=headers, timeout=60, trust_env=False)
        self.model, self.streams = case["model"], case["stream"]

    def reply(self, body, emit):
        body = {"model": self.model, **body}
        if self.streams:
            return self.streamed(body, emit)
        answer = self.http.post("/responses", json=body)
        self.check(answer)
        return answer.json()

    def check(self, answer):
        if answer.status_code != 200:
            answer.read()
            raise Failure(f"{answer.status_code}: {answer.text}")

    def streamed(self, body, emit):
        with self.http.stream("POST", "/responses", json={**body, "stream": True}) as answer:
            self.check(answer)
            for event in self.events(answer):
                kind = event.get("type")
                if kind == "response.output_text.delta":
                    emit(event["delta"])
                elif kind == "error":
                    raise Failure(json.dumps(event))
                elif kind in ENDS:
                    return event["response"]
        raise Ended("no end came")

    def events(self, answer):
        events = Events()
        for piece in answer.iter_bytes():
            for data in events.feed(piece):
                if data != "[DONE]":
                    yield json.loads(data)
        for data in events.finish():
            yield json.loads(data)


def text_of(reply):
    texts, refusals = [], []
    for item in reply["output"]:
        if item["type"] == "message":
            for part in item["content"]:
                if part["type"] == "output_text":
                    texts.append(part["text"])
                elif part["type"] == "refusal":
                    refusals.append(part["refusal"])
    if refusals:
        raise Refusal("".join(refusals))
    return "".join(texts)


def checked(reply):
    """The reply, if the service has finished it."""
    status = reply.get("status")
    if status == "incomplete":
        why = (reply.get("incomplete_details") or {}).get("reason")
        raise Refusal("filtered") if why == "content_filter" else Cut(f"incomplete: {why}")
    if status in ("failed", "cancelled") or reply.get("error"):
        raise Failure(json.dumps(reply.get("error")))
    return reply


class Loop:
    def __init__(self, case, thread):
        self.client, self.thread = Client(case), thread
        self.functions = handlers(case)
        self.tools = [
            {
                "type": "function",
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["parameters"],
                "strict": False,
            }
            for tool in case["tools"]
        ]
        said = "\n".join(one["content"] for one in case["messages"] if one["role"] == "system")
        self.instructions = thread.instructions = said or thread.instructions

    def run(self, messages, limit, emit):
        new = [
            {"role": message["role"], "content": message["content"]}
            for message in messages
            if message["role"] != "system"
        ]
        last = self.thread.last
        for _ in range(limit):
            reply = checked(self.client.reply(self.request(new, last), emit))
            last = reply["id"]
            calls = [item for item in reply["output"] if item["type"] == "function_call"]
            if not calls:
                text = text_of(reply)
                self.thread.last = last
                return text
            new = [
                {"type": "function_call_output", "call_id": call["call_id"], "output": self.output(call)}
                for call in calls
            ]
        raise Limit(str(limit))

    def request(self, new, last):
        body = {"input": new, "tools": self.tools, "store": True}
        if self.instructions:
            body["instructions"] = self.instructions
        if last:
            body["previous_response_id"] = last
        return body

    def output(self, call):
        try:
            arguments = json.loads(call["arguments"] or "{}")
        except ValueError:
            return json.dumps({"ok": False, "error": "arguments are not JSON"})
        if not isinstance(arguments, dict):
            return json.dumps({"ok": False, "error": "arguments are not an object"})
        if call["name"] not in self.functions:
            return json.dumps({"ok": False, "error": f"unknown tool {call['name']}"})
        try:
            found = self.functions[call["name"]](**arguments)
        except Exception as problem:
            return json.dumps({"ok": False, "error": str(problem)})
        return json.dumps({"ok": True, "result": found})


class Driver:
    def __init__(self):
        self.threads = {}

    def start(self):
        able = {name: True for name in ("stream", "chunks", "limit", "memory", "concurrent", "conversations")}
        return started("responses that are kept", "1", wires=["openai-responses"], modes=["sync"], **able)

    def run(self, case, emit):
        thread = self.threads.setdefault(case["conversation"], Thread()) if "conversation" in case else Thread()
        loop = Loop(case, thread)
        try:
            return value(loop.run(case["messages"], case["options"].get("limit", 15), emit))
        except Exception as problem:
            return error(problem, reasons=REASONS)
        finally:
            loop.client.http.close()
