"""No fault: urllib3 and its own parser; messages are rebuilt from data classes, and a limit gives what there is."""

import json
import time
from dataclasses import dataclass, field

import jsonschema
import urllib3

from looptck.driver import error, handlers, started, value


class Gone(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


@dataclass
class Use:
    id: str
    name: str
    arguments: str
    result: str = ""

    def call(self):
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments or "{}"}}

    def answer(self):
        return {"role": "tool", "tool_call_id": self.id, "content": self.result}


@dataclass
class Step:
    text: str = ""
    refusal: str = ""
    uses: list[Use] = field(default_factory=list)
    finish: str | None = None

    def messages(self):
        turn = {"role": "assistant", "content": self.text or None, "tool_calls": [use.call() for use in self.uses]}
        return [turn, *(use.answer() for use in self.uses)]


@dataclass
class Story:
    prompt: list[dict]
    steps: list[Step] = field(default_factory=list)

    def messages(self):
        return [*self.prompt, *(message for step in self.steps for message in step.messages())]


def lines(answer):
    """The lines of an event stream, which end with CR, LF or CRLF."""
    held, skips, first = b"", False, True
    for piece in answer.stream(4096, decode_content=True):
        for sign in piece:
            if sign == 10 and skips:
                skips = False
                continue
            skips = sign == 13
            if sign in (10, 13):
                text = held.decode("utf-8", "replace")
                yield text.removeprefix("\ufeff") if first else text
                held, first = b"", False
            else:
                held += bytes([sign])
    yield held.decode("utf-8", "replace")


def events(answer):
    data = []
    for line in lines(answer):
        name, _, said = line.partition(":")
        if not line and data:
            yield "\n".join(data)
            data = []
        elif name == "data":
            data.append(said.removeprefix(" "))
    if data:
        yield "\n".join(data)


def streamed(answer, emit):
    step, slots = Step(), {}
    for data in events(answer):
        if data == "[DONE]":
            break
        chunk = json.loads(data)
        if not chunk:
            continue
        if chunk.get("error"):
            raise Gone("stream", json.dumps(chunk["error"]))
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            if delta.get("content"):
                step.text += delta["content"]
                emit(delta["content"])
            step.refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls") or []:
                add(step, slots, piece)
            step.finish = choice.get("finish_reason") or step.finish
    if step.finish is None:
        raise Gone("stream", "broken off")
    return step


def add(step, slots, piece):
    place, id, function = piece.get("index"), piece.get("id"), piece.get("function") or {}
    use = slots.get(place, step.uses[-1] if place is None and step.uses else None)
    if use is None or (id and id != use.id):
        use = slots[place] = Use(id or "", "", "")
        step.uses.append(use)
    use.name = use.name or function.get("name") or ""
    use.arguments += function.get("arguments") or ""


def whole(answer):
    choices = json.loads(answer.data).get("choices")
    if not choices:
        raise Gone("provider", "no choices")
    message = choices[0]["message"]
    step = Step(message.get("content") or "", message.get("refusal") or "", [], choices[0].get("finish_reason"))
    for call in message.get("tool_calls") or []:
        step.uses.append(Use(call["id"], call["function"]["name"], call["function"]["arguments"]))
    return step


def post(http, case, body):
    headers = {"authorization": f"Bearer {case['api_key']}", "content-type": "application/json"}
    url, wait = case["base_url"] + "/chat/completions", 0.1
    for left in reversed(range(4)):
        answer = http.request(
            "POST", url, body=json.dumps(body).encode(), headers=headers, retries=False, preload_content=False
        )
        if answer.status == 200:
            return answer
        said = answer.data.decode(errors="replace")
        if not left or answer.status not in (408, 409, 429, 500, 502, 503, 504, 529):
            raise Gone("provider", f"{answer.status} {said}")
        try:
            pause = max(float(answer.headers.get("retry-after", "")), 0.0)
        except ValueError:
            pause = wait
        time.sleep(pause)
        wait *= 2
    raise AssertionError


class Shop:
    def __init__(self, case):
        self.functions = handlers(case)
        self.checks = {tool["name"]: jsonschema.Draft202012Validator(tool["parameters"]) for tool in case["tools"]}

    def serve(self, use):
        if use.name not in self.functions:
            return json.dumps({"error": "unknown tool", "name": use.name})
        try:
            arguments = json.loads(use.arguments or "{}")
            if not isinstance(arguments, dict):
                raise ValueError("no object")
        except ValueError as problem:
            return json.dumps({"error": "invalid arguments", "why": str(problem)})
        if wrong := [problem.message for problem in self.checks[use.name].iter_errors(arguments)]:
            return json.dumps({"error": "arguments do not fit", "why": wrong})
        try:
            found = self.functions[use.name](**arguments)
        except Exception as problem:
            return json.dumps({"error": type(problem).__name__, "why": str(problem)})
        return found if isinstance(found, str) else json.dumps(found)


def run(http, case, emit):
    shop, story = Shop(case), Story([dict(one) for one in case["messages"]])
    tools = [
        {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
        for tool in case["tools"]
    ]
    for _ in range(case["options"].get("limit", 10)):
        body = {"model": case["model"], "messages": story.messages(), "stream": case["stream"]}
        answer = post(http, case, body | {"tools": tools} if tools else body)
        try:
            step = streamed(answer, emit) if case["stream"] else whole(answer)
        finally:
            answer.close()
        if step.finish == "length":
            raise Gone("truncated", step.text)
        if step.finish == "content_filter" or step.refusal:
            raise Gone("refusal", step.refusal or "filtered")
        if not step.uses:
            return value(step.text, stop="end")
        for use in step.uses:
            use.result = shop.serve(use)
        story.steps.append(step)
    said = " ".join(step.text for step in story.steps if step.text)
    return value(f"I have not finished. So far: {said}", stop="limit")


class Driver:
    def start(self):
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True}
        return started("chat from data classes", "1", wires=["openai-chat"], modes=["sync"], **able)

    def run(self, case, emit):
        with urllib3.PoolManager(timeout=60) as http:
            try:
                return run(http, case, emit)
            except Gone as problem:
                return error(problem, problem.reason)
            except (json.JSONDecodeError, urllib3.exceptions.ProtocolError) as problem:
                return error(problem, "stream")
            except urllib3.exceptions.HTTPError as problem:
                return error(problem, "provider")
            except Exception as problem:
                return error(problem)
