"""Chat Completions over http.client: a kept connection, calls of a turn on threads, arguments validated.

Its choices: the role developer, a patient retry, every wrong call is answered to the model with an error.
"""

import email.utils
import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import jsonschema
from sse import Events

from looptck.driver import error, handlers, started, value


class TooManyTurns(Exception):
    pass


class Refused(Exception):
    pass


class CutOff(Exception):
    pass


class ServiceSaysNo(Exception):
    pass


class Broken(Exception):
    pass


REASONS = {
    TooManyTurns: "limit",
    Refused: "refusal",
    CutOff: "truncated",
    ServiceSaysNo: "provider",
    Broken: "stream",
    json.JSONDecodeError: "stream",
    http.client.HTTPException: "stream",
    OSError: "provider",
}


class Line:
    """A kept connection to the service."""

    def __init__(self, base_url, key):
        place = urlsplit(base_url)
        self.host, self.port, self.path = place.hostname, place.port, place.path + "/chat/completions"
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.connection = None

    def ask(self, body):
        attempts = 5
        for attempt in range(1, attempts + 1):
            pause = 0.1 * 2**attempt
            try:
                reply = self.send(body)
            except (OSError, http.client.HTTPException):
                self.hang_up()
                if attempt == attempts:
                    raise
            else:
                if reply.status == 200:
                    return reply
                said = reply.read().decode(errors="replace")
                if attempt == attempts or not (reply.status in (408, 409, 429) or reply.status >= 500):
                    raise ServiceSaysNo(f"{reply.status}: {said}")
                pause = wait_of(reply.headers.get("Retry-After"), pause)
            time.sleep(pause)

    def send(self, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        self.connection.request("POST", self.path, json.dumps(body), self.headers)
        return self.connection.getresponse()

    def hang_up(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def wait_of(header, usual):
    if header is None:
        return usual
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return usual


def events_of(reply):
    events = Events()
    while piece := reply.read1(65536):
        yield from events.feed(piece)
    yield from events.finish()


class Turn:
    def __init__(self):
        self.text = ""
        self.refusal = ""
        self.calls = []
        self.finish = None


def streamed(reply, emit):
    turn, slots = Turn(), {}
    for data in events_of(reply):
        if data == "[DONE]":
            break
        chunk = json.loads(data)
        if chunk.get("error"):
            raise Broken(json.dumps(chunk["error"]))
        for choice in chunk.get("choices") or []:
            if choice.get("index"):
                continue
            delta = choice.get("delta") or {}
            if delta.get("content"):
                turn.text += delta["content"]
                emit(delta["content"])
            turn.refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls") or []:
                take(piece, slots, turn.calls)
            turn.finish = choice.get("finish_reason") or turn.finish
    if turn.finish is None:
        raise Broken("the stream ended early")
    return turn


def take(piece, slots, calls):
    """Add a piece to its call: that of its index, if the ids agree; a piece without index is of the last call."""
    index, id = piece.get("index"), piece.get("id")
    call = calls[-1] if index is None and calls else slots.get(index)
    if call is None or (id and call["id"] and call["id"] != id):
        call = {"id": id or "", "name": "", "arguments": ""}
        calls.append(call)
        slots[index] = call
    function = piece.get("function") or {}
    call["id"] = call["id"] or id or ""
    call["name"] = call["name"] or function.get("name") or ""
    call["arguments"] += function.get("arguments") or ""


def whole(reply):
    body = json.loads(reply.read())
    if not body.get("choices"):
        raise Broken("a reply without choices")
    choice = body["choices"][0]
    message, turn = choice["message"], Turn()
    turn.text = message.get("content") or ""
    turn.refusal = message.get("refusal") or ""
    turn.finish = choice.get("finish_reason")
    for call in message.get("tool_calls") or []:
        function = call["function"]
        turn.calls.append({"id": call["id"], "name": function["name"], "arguments": function["arguments"]})
    return turn


class Agent:
    def __init__(self, case):
        self.model, self.stream = case["model"], case["stream"]
        self.line = Line(case["base_url"], case["api_key"])
        self.tools = {tool["name"]: tool for tool in case["tools"]}
        self.functions = handlers(case)

    def offer(self, tool):
        function = {"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
        return {"type": "function", "function": function}

    def ask(self, messages, emit):
        body = {"model": self.model, "messages": messages, "n": 1}
        if self.tools:
            body["tools"] = [self.offer(tool) for tool in self.tools.values()]
            body["parallel_tool_calls"] = True
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        reply = self.line.ask(body)
        try:
            return streamed(reply, emit) if self.stream else whole(reply)
        finally:
            if not reply.isclosed():
                self.line.hang_up()

    def run(self, messages, limit, emit):
        """Asks until the model answers without calls; `messages` grows by all that was said."""
        for _ in range(limit):
            turn = self.ask(messages, emit)
            if turn.finish == "content_filter":
                raise Refused("the service filtered the answer")
            if turn.finish == "length":
                raise CutOff("the answer was cut off")
            if turn.refusal:
                raise Refused(turn.refusal)
            if not turn.calls:
                messages.append({"role": "assistant", "content": turn.text})
                return turn.text
            messages.append(self.echo(turn))
            with ThreadPoolExecutor(len(turn.calls)) as pool:
                results = list(pool.map(self.result, turn.calls))
            for call, result in zip(turn.calls, results):
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        raise TooManyTurns(f"{limit} turns")

    def echo(self, turn):
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"] or "{}"},
            }
            for call in turn.calls
        ]
        return {"role": "assistant", "content": turn.text or None, "tool_calls": calls}

    def result(self, call):
        name = call["name"]
        if name not in self.functions:
            return f"Error: there is no tool {name}. There are: {', '.join(self.functions)}"
        try:
            arguments = json.loads(call["arguments"] or "{}")
        except json.JSONDecodeError as problem:
            return f"Error: the arguments of {name} are no JSON: {problem}"
        if not isinstance(arguments, dict):
            return f"Error: the arguments of {name} are no object"
        try:
            jsonschema.validate(arguments, self.tools[name]["parameters"])
        except jsonschema.ValidationError as problem:
            return f"Error: {name} was called with wrong arguments: {problem.message}"
        try:
            found = self.functions[name](**arguments)
        except Exception as problem:
            return f"Error: {name} failed: {problem}"
        return found if isinstance(found, str) else json.dumps(found)


def said(message):
    role = "developer" if message["role"] == "system" else message["role"]
    if role == "tool":
        return {"role": "tool", "tool_call_id": message["call_id"], "content": message["content"]}
    if message.get("calls"):
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for call in message["calls"]
        ]
        return {"role": role, "content": message["content"] or None, "tool_calls": calls}
    return {"role": role, "content": message["content"]}


class Driver:
    def __init__(self):
        self.conversations = {}
        self.lock = threading.Lock()

    def start(self):
        able = {name: True for name in ("stream", "chunks", "limit", "parallel", "concurrent", "conversations")}
        return started("chat over http.client", "1", wires=["openai-chat"], modes=["sync"], histories=True, **able)

    def run(self, case, emit):
        agent = Agent(case)
        earlier = self.conversations.get(case.get("conversation"), [])
        messages = [*earlier, *(said(message) for message in case["messages"])]
        try:
            text = agent.run(messages, case["options"].get("limit", 20), emit)
        except Exception as problem:
            return error(problem, reasons=REASONS)
        finally:
            agent.line.hang_up()
        if "conversation" in case:
            self.conversations[case["conversation"]] = messages
        return value(text)
