"""Right loops on the three wires whose tools may return images. A fault, or another right reading, replaces a step."""

# ruff: noqa: BLE001, D101

from __future__ import annotations

import json
from typing import Any

from looptck.driver import Parts, error, handlers, post, started, value

Json = dict[str, Any]


def as_text(content: Any) -> str:
    """The text of a value."""
    return content if isinstance(content, str) else json.dumps(content)


def texts(parts: Parts) -> str:
    """The texts among the parts."""
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def images(content: Any) -> list[Any]:
    """The images among the parts, if these are parts."""
    return [part for part in content if part["type"] == "image"] if isinstance(content, Parts) else []


def data_url(part: Json) -> str:
    """The URL that has all of an image."""
    return f"data:{part['media_type']};base64,{part['data']}"


class Loop:
    """What the wires share."""

    wire = ""
    path = ""

    def __init__(self) -> None:
        self.kept: dict[str, list[Json]] = {}

    def start(self) -> Any:
        able: Any = {"parts": True, "conversations": True, "concurrent": True}
        wires: list[Any] = [self.wire]
        return started(type(self).__name__, "1", wires=wires, modes=["sync"], **able)

    def run(self, case: Any, emit: Any) -> Any:
        try:
            return value(self.talk(case))
        except Exception as problem:
            return error(problem)

    def talk(self, case: Any) -> str:
        functions = handlers(case)
        history: list[Json] = []
        if "conversation" in case:
            history = self.kept.setdefault(case["conversation"], history)
        history += [dict(message) for message in case["messages"]]
        for _ in range(9):
            reply = post(f"{case['base_url']}/{self.path}", self.body(case, self.sent(history)))
            history += self.echo(reply)
            calls = self.calls(reply)
            if not calls:
                return self.text(reply)
            history += self.results([(id, name, *self.ran(functions.get(name), told)) for id, name, told in calls])
        raise RuntimeError("too many rounds")

    def ran(self, function: Any, told: Json) -> tuple[Any, bool]:
        if function is None:
            return "Error: there is no such tool.", True
        try:
            return function(**told), False
        except Exception as problem:
            return f"Error: {type(problem).__name__}: {problem}", True

    def sent(self, history: list[Json]) -> list[Json]:
        return history

    def body(self, case: Any, history: list[Json]) -> Json:
        raise NotImplementedError

    def echo(self, reply: Json) -> list[Json]:
        raise NotImplementedError

    def calls(self, reply: Json) -> list[tuple[str, str, Json]]:
        raise NotImplementedError

    def text(self, reply: Json) -> str:
        raise NotImplementedError

    def results(self, results: list[Any]) -> list[Json]:
        raise NotImplementedError


class Messages(Loop):
    wire = "anthropic-messages"
    path = "messages"

    def body(self, case: Any, history: list[Json]) -> Json:
        system = "\n".join(one["content"] for one in history if one["role"] == "system")
        tools = [
            {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]}
            for one in case["tools"]
        ]
        said = [one for one in history if one["role"] != "system"]
        return {"model": case["model"], "max_tokens": 999, "system": system, "tools": tools, "messages": said}

    def echo(self, reply: Json) -> list[Json]:
        said = [block for block in reply["content"] if block.get("text") != ""]
        return [{"role": "assistant", "content": said}] if said else []

    def calls(self, reply: Json) -> list[tuple[str, str, Json]]:
        return [(one["id"], one["name"], one["input"]) for one in reply["content"] if one["type"] == "tool_use"]

    def text(self, reply: Json) -> str:
        return "".join(one["text"] for one in reply["content"] if one["type"] == "text")

    def block(self, part: Any) -> Json:
        if part["type"] == "text":
            return dict(part)
        source = {"type": "base64", "media_type": part["media_type"], "data": part["data"]}
        return {"type": "image", "source": source}

    def content(self, content: Any) -> Any:
        return [self.block(part) for part in content] if isinstance(content, Parts) else as_text(content)

    def result(self, id: str, content: Any, failed: bool) -> Json:
        return {"type": "tool_result", "tool_use_id": id, "content": self.content(content), "is_error": failed}

    def results(self, results: list[Any]) -> list[Json]:
        return [{"role": "user", "content": [self.result(id, content, bad) for id, _, content, bad in results]}]


SEALED = ["reasoning.encrypted_content"]


class Responses(Loop):
    wire = "openai-responses"
    path = "responses"

    def body(self, case: Any, history: list[Json]) -> Json:
        tools = [
            {"type": "function", "name": one["name"], "description": one["description"], "strict": False}
            | {"parameters": one["parameters"]}
            for one in case["tools"]
        ]
        return {"model": case["model"], "input": history, "tools": tools, "store": False, "include": SEALED}

    def echo(self, reply: Json) -> list[Json]:
        return list(reply["output"])

    def calls(self, reply: Json) -> list[tuple[str, str, Json]]:
        calls = [one for one in reply["output"] if one["type"] == "function_call"]
        return [(one["call_id"], one["name"], json.loads(one["arguments"] or "{}")) for one in calls]

    def text(self, reply: Json) -> str:
        said = [part for one in reply["output"] if one["type"] == "message" for part in one["content"]]
        return "".join(part["text"] for part in said if part["type"] == "output_text")

    def part(self, part: Any) -> Json:
        if part["type"] == "text":
            return {"type": "input_text", "text": part["text"]}
        return {"type": "input_image", "detail": "auto", "image_url": data_url(part)}

    def content(self, content: Any) -> Any:
        return [self.part(part) for part in content] if isinstance(content, Parts) else as_text(content)

    def results(self, results: list[Any]) -> list[Json]:
        return [
            {"type": "function_call_output", "call_id": id, "output": self.content(content)}
            for id, _, content, _ in results
        ]


class Chat(Loop):
    wire = "openai-chat"
    path = "chat/completions"

    def body(self, case: Any, history: list[Json]) -> Json:
        names = ("name", "description", "parameters")
        tools = [{"type": "function", "function": {name: one[name] for name in names}} for one in case["tools"]]
        return {"model": case["model"], "messages": history, "tools": tools}

    def echo(self, reply: Json) -> list[Json]:
        message = reply["choices"][0]["message"]
        calls = {"tool_calls": message["tool_calls"]} if message.get("tool_calls") else {}
        return [{"role": "assistant", "content": message.get("content"), **calls}]

    def calls(self, reply: Json) -> list[tuple[str, str, Json]]:
        calls = reply["choices"][0]["message"].get("tool_calls") or ()
        return [(one["id"], one["function"]["name"], json.loads(one["function"]["arguments"])) for one in calls]

    def text(self, reply: Json) -> str:
        return str(reply["choices"][0]["message"]["content"] or "")

    def said(self, content: Any) -> Any:
        """The text in the tool's message."""
        return texts(content) or "The image follows." if isinstance(content, Parts) else as_text(content)

    def tool(self, id: str, content: Any) -> Json:
        return {"role": "tool", "tool_call_id": id, "content": self.said(content)}

    def image(self, part: Json) -> Json:
        return {"type": "image_url", "image_url": {"url": data_url(part)}}

    def behind(self, results: list[Any]) -> list[Json]:
        """What follows the results."""
        found = [self.image(part) for _, _, content, _ in results for part in images(content)]
        return [{"role": "user", "content": found}] if found else []

    def results(self, results: list[Any]) -> list[Json]:
        return [*(self.tool(id, content) for id, _, content, _ in results), *self.behind(results)]
