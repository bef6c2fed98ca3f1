"""No fault: the stream helper of OpenAI's client, `previous_response_id`; the model is told what a schema forbids."""

import json

import jsonschema
import openai

from looptck.driver import error, handlers, started, value


class Halt(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


def streamed(client, request, emit):
    """The response that a stream ends with, whatever its end is."""
    last = None
    with client.responses.stream(**request) as stream:
        for event in stream:
            match event.type:
                case "response.output_text.delta":
                    emit(event.delta)
                case "response.completed" | "response.incomplete" | "response.failed":
                    last = event.response
                case "error":
                    raise Halt("provider", event.message)
    if last is None:
        raise Halt("stream", "the stream ended, and the response did not")
    return last


def checked(response):
    if response.status == "incomplete":
        why = response.incomplete_details.reason if response.incomplete_details else None
        raise Halt("refusal" if why == "content_filter" else "truncated", f"incomplete: {why}")
    if response.status not in ("completed", None) or response.error:
        raise Halt("provider", f"{response.status}: {response.error}")
    return response


def answer_of(response):
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    refused = "".join(part.refusal for part in parts if part.type == "refusal")
    if refused:
        raise Halt("refusal", refused)
    return "".join(part.text for part in parts if part.type == "output_text")


class Desk:
    def __init__(self, case):
        self.functions, self.schemas = handlers(case), {tool["name"]: tool["parameters"] for tool in case["tools"]}

    def output(self, item):
        return {"type": "function_call_output", "call_id": item.call_id, "output": self.text(item)}

    def text(self, item):
        if item.name not in self.functions:
            return f"[no such tool: {item.name}]"
        try:
            arguments = json.loads(item.arguments or "{}")
            jsonschema.validate(arguments, {"type": "object", **self.schemas[item.name]})
        except json.JSONDecodeError as problem:
            return f"[not JSON: {problem}]"
        except jsonschema.ValidationError as problem:
            return f"[not valid at {problem.json_path}: {problem.message}]"
        try:
            found = self.functions[item.name](**arguments)
        except Exception as problem:
            return f"[{item.name} failed: {type(problem).__name__} {problem}]"
        return found if isinstance(found, str) else json.dumps(found, indent=1)


def loop(client, case, emit):
    desk = Desk(case)
    request = {
        "model": case["model"],
        "input": [{"role": one["role"], "content": one["content"]} for one in case["messages"]],
    }
    if case["tools"]:
        request["tools"] = [
            {"type": "function", "strict": False, **{key: tool[key] for key in ("name", "description", "parameters")}}
            for tool in case["tools"]
        ]
    for _ in range(case["options"].get("limit", 12)):
        whole = streamed(client, request, emit) if case["stream"] else client.responses.create(**request)
        response = checked(whole)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return answer_of(response)
        request |= {"previous_response_id": response.id, "input": [desk.output(item) for item in calls]}
    raise Halt("limit", "no answer within the limit")


class Driver:
    def start(self):
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "memory": True}
        return started("responses with the stream helper", "1", wires=["openai-responses"], modes=["sync"], **able)

    def run(self, case, emit):
        with openai.OpenAI(base_url=case["base_url"], api_key=case["api_key"]) as client:
            try:
                return value(loop(client, case, emit))
            except Halt as problem:
                return error(problem, problem.reason)
            except Exception as problem:
                return error(problem)
