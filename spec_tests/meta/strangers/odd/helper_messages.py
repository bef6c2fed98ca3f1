"""No fault: the stream helper of Anthropic's client gives text and message; a thread pool runs the calls of a turn."""

import json
from concurrent.futures import ThreadPoolExecutor

import anthropic

from looptck.driver import error, handlers, started, value


class NoAnswer(Exception):
    """The loop ended without an answer, for this reason."""

    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class Team:
    """Threads that do what the model asks for."""

    def __init__(self, case):
        self.functions = handlers(case)

    def do(self, calls):
        with ThreadPoolExecutor(max_workers=max(1, len(calls))) as pool:
            return [future.result() for future in [pool.submit(self.one, call) for call in calls]]

    def one(self, call):
        block = {"type": "tool_result", "tool_use_id": call.id}
        try:
            if call.name not in self.functions:
                raise LookupError(f"the tool {call.name} is unknown")
            if not isinstance(call.input, dict):
                raise TypeError("the input has to be an object")
            found = self.functions[call.name](**call.input)
        except Exception as problem:
            return block | {"content": f"This did not work: {problem or type(problem).__name__}", "is_error": True}
        text = found if isinstance(found, str) else json.dumps(found)
        return block | {"content": text} if text else block


def message_of(client, request, emit, streams):
    if not streams:
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        for text in stream.text_stream:
            emit(text)
        message = stream.get_final_message()
    if message.stop_reason is None:
        raise NoAnswer("stream", "the stream ended before the message did")
    return message


def kept(block):
    """A block as the next request may have it; the service takes no blank text."""
    if block.type == "text" and not block.text.strip():
        return []
    return [block.to_dict(mode="json")]


def answer(client, case, emit):
    prompt = [one["content"] for one in case["messages"] if one["role"] == "system"]
    history = [{"role": one["role"], "content": one["content"]} for one in case["messages"] if one["role"] != "system"]
    request = {"model": case["model"], "max_tokens": 1500}
    if prompt:
        request["system"] = "\n\n".join(prompt)
    if case["tools"]:
        request["tools"] = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in case["tools"]
        ]
    team = Team(case)
    for _ in range(case["options"].get("limit", 25)):
        message = message_of(client, {**request, "messages": history}, emit, case["stream"])
        match message.stop_reason:
            case "max_tokens" | "model_context_window_exceeded":
                raise NoAnswer("truncated", f"cut: {message.stop_reason}")
            case "refusal":
                raise NoAnswer("refusal", "the model declined")
        said = [one for block in message.content for one in kept(block)]
        if said:
            history = [*history, {"role": "assistant", "content": said}]
        if message.stop_reason == "pause_turn":
            continue
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        history = [*history, {"role": "user", "content": team.do(calls)}]
    raise NoAnswer("limit", "too many requests")


class Driver:
    def start(self):
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True}
        return started("messages with the stream helper", "1", wires=["anthropic-messages"], modes=["sync"], **able)

    def run(self, case, emit):
        base = case["base_url"].removesuffix("/v1")
        with anthropic.Anthropic(base_url=base, api_key=case["api_key"]) as client:
            try:
                return value(answer(client, case, emit))
            except NoAnswer as problem:
                return error(problem, problem.reason)
            except Exception as problem:
                return error(problem)
