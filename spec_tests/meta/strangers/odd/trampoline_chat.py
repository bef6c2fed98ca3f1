"""No fault: the loop is a generator that yields what it wants done, and a trampoline does it."""

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from looptck.driver import error, handlers, started, value


@dataclass
class Ask:
    """An effect: the reply of the model to these messages."""

    messages: list


@dataclass
class Use:
    """An effect: what a tool returns."""

    name: str
    arguments: dict


@dataclass
class Emit:
    """An effect: text for the caller."""

    text: str


class End(Exception):
    """An end without an answer, and the driver's word for it."""

    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


def conversation(messages, limit):
    """The loop; it does nothing itself."""
    for _ in range(limit):
        choice = yield Ask(messages)
        message, finish = choice["message"], choice.get("finish_reason")
        if finish == "length":
            raise End("truncated", "cut at the limit of tokens")
        if finish == "content_filter" or message.get("refusal"):
            raise End("refusal", message.get("refusal") or "filtered")
        calls = message.get("tool_calls") or []
        if not calls:
            return message.get("content") or ""
        if message.get("content"):
            yield Emit(message["content"])
        messages = [*messages, echo_of(message, calls)]
        for call in calls:
            said = yield from answered(call)
            messages = [*messages, {"role": "tool", "tool_call_id": call["id"], "content": said}]
    raise End("limit", f"no answer after {limit} replies")


def echo_of(message, calls):
    said = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["function"]["name"], "arguments": call["function"].get("arguments") or "{}"},
        }
        for call in calls
    ]
    return {**{name: part for name, part in message.items() if part is not None}, "tool_calls": said}


def answered(call):
    function = call["function"]
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError as problem:
        return f"error: the arguments are no JSON: {problem}"
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return "error: the arguments are no object"
    try:
        found = yield Use(function["name"], arguments)
    except Exception as problem:
        return f"error: {type(problem).__name__}: {problem}"
    return found if isinstance(found, str) else json.dumps(found)


@dataclass
class Trampoline:
    case: dict
    emit: object
    functions: dict = field(init=False)

    def __post_init__(self):
        self.functions = handlers(self.case)

    def bounce(self, generator):
        step, given = generator.send, None
        while True:
            try:
                wanted = step(given)
            except StopIteration as stop:
                return stop.value
            try:
                step, given = generator.send, self.do(wanted)
            except End:
                raise
            except Exception as problem:
                step, given = generator.throw, problem

    def do(self, wanted):
        match wanted:
            case Ask(messages):
                return self.ask(messages)
            case Use(name, arguments):
                if name not in self.functions:
                    raise LookupError(f"there is no tool {name}")
                return self.functions[name](**arguments)
            case Emit(_):
                return None

    def ask(self, messages):
        body = {"model": self.case["model"], "messages": messages}
        names = ("name", "description", "parameters")
        if self.case["tools"]:
            body["tools"] = [
                {"type": "function", "function": {name: tool[name] for name in names}} for tool in self.case["tools"]
            ]
        reply = self.post(body)
        if not reply.get("choices"):
            raise End("provider", f"no choice: {reply}")
        return reply["choices"][0]

    def post(self, body):
        headers = {"Authorization": f"Bearer {self.case['api_key']}", "Content-Type": "application/json"}
        url = self.case["base_url"] + "/chat/completions"
        for attempt in range(4):
            request = urllib.request.Request(url, json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as problem:
                said = problem.read().decode(errors="replace")
                if attempt == 3 or problem.code not in (408, 409, 429, 500, 502, 503, 504, 529):
                    raise End("provider", f"{problem.code} {said}") from None
                time.sleep(waiting(problem.headers.get("Retry-After"), 0.1 * 2**attempt))
            except (OSError, ValueError) as problem:
                raise End("stream", f"a reply that cannot be read: {problem}") from problem


def waiting(header, usual):
    try:
        return max(0.0, float(header))
    except (TypeError, ValueError):
        return usual


class Driver:
    def start(self):
        return started("a trampoline", "1", wires=["openai-chat"], modes=["sync"], limit=True, concurrent=True)

    def run(self, case, emit):
        try:
            text = Trampoline(case, emit).bounce(
                conversation([dict(one) for one in case["messages"]], case["options"].get("limit", 16))
            )
        except End as end:
            return error(end, end.reason)
        except Exception as problem:
            return error(problem)
        return value(text)
