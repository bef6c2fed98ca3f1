"""No fault: each run is a conversation of the service; requests send what is new, and the last text is read there."""

import json
from concurrent.futures import ThreadPoolExecutor

from openai import APIStatusError, OpenAI

from looptck.driver import error, handlers, started, value


class Refused(Exception):
    """The model or the service has ended the run early."""


class Session:
    """A conversation that the service keeps, and the instructions that it does not."""

    def __init__(self, client, messages):
        """A new conversation, in which is what was said before the latest question."""
        self.client = client
        self.rules = "\n\n".join(one["content"] for one in messages if one["role"] == "system") or None
        said = [{"role": one["role"], "content": one["content"]} for one in messages if one["role"] != "system"]
        self.fresh = said[-1:]
        self.id = client.conversations.create(items=[{"type": "message", **one} for one in said[:-1]]).id

    def ask(self, body, emit):
        request = {**body, "input": self.fresh, "conversation": self.id}
        if self.rules:
            request["instructions"] = self.rules
        if emit is None:
            response = self.client.responses.create(**request)
        else:
            with self.client.responses.create(**request, stream=True) as events:
                response = self.last(events, emit)
        if response.status != "completed":
            raise Refused(f"the response is {response.status}: {response.incomplete_details or response.error}")
        return response

    @staticmethod
    def last(events, emit):
        for event in events:
            if event.type == "response.output_text.delta":
                emit(event.delta)
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                return event.response
            elif event.type == "error":
                raise Refused(str(event))
        raise Refused("the stream ended before the response did")

    def answer(self):
        """The last message of the conversation, as the service has it."""
        latest = next(iter(self.client.conversations.items.list(self.id, limit=1)))
        for part in latest.content:
            if part.type == "refusal":
                raise Refused(part.refusal)
        return "".join(part.text for part in latest.content)


def output(call, functions):
    told = {"type": "function_call_output", "call_id": call.call_id}
    function = functions.get(call.name)
    if function is None:
        return {**told, "output": f"There is no tool {call.name}."}
    try:
        arguments = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments have to be an object")
        found = function(**arguments)
    except Exception as wrong:
        return {**told, "output": f"It failed: {type(wrong).__name__}: {wrong}"}
    return {**told, "output": found if isinstance(found, str) else json.dumps(found)}


def loop(session, case, emit):
    functions = handlers(case)
    body = {"model": case["model"]}
    if case["tools"]:
        body["tools"] = [
            {"type": "function", "strict": False, **{key: tool[key] for key in ("name", "description", "parameters")}}
            for tool in case["tools"]
        ]
    for _ in range(case["options"].get("limit", 12)):
        response = session.ask(body, emit)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            if any(item.type == "custom_tool_call" for item in response.output):
                raise Refused("there are no custom tools")
            return session.answer() if response.output else ""
        with ThreadPoolExecutor(4) as pool:
            session.fresh = list(pool.map(lambda call: output(call, functions), calls))
    raise Refused("the limit of requests is reached")


class Driver:
    def start(self):
        able = dict.fromkeys(("stream", "chunks", "limit", "concurrent", "memory", "parallel"), True)
        return started("conversations of the service", "1", wires=["openai-responses"], modes=["sync"], **able)

    def run(self, case, emit):
        with OpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=60) as client:
            try:
                return value(loop(Session(client, case["messages"]), case, emit if case["stream"] else None))
            except Refused as problem:
                return error(problem, "limit" if "limit of requests" in str(problem) else "provider")
            except APIStatusError as problem:
                return error(problem, "provider")
            except Exception as problem:
                return error(problem)
