"""No fault: the stream helper of OpenAI's client builds the turn; a task group runs its calls; errors are sentences."""

import asyncio
import json

import openai

from looptck.driver import error, handlers, started, value

MAX_REQUESTS = 16


class OutOfRequests(Exception):
    pass


class Truncated(Exception):
    pass


class Declined(Exception):
    pass


class Unfinished(Exception):
    pass


REASONS = {
    OutOfRequests: "limit",
    Truncated: "truncated",
    openai.LengthFinishReasonError: "truncated",
    Declined: "refusal",
    openai.ContentFilterFinishReasonError: "refusal",
    Unfinished: "stream",
}


class Sandbox:
    """Runs what the model calls, and tells it in words what went wrong."""

    def __init__(self, functions):
        self.functions = functions

    async def answer(self, call):
        return {"role": "tool", "tool_call_id": call.id, "content": await self.text(call.function)}

    async def text(self, function):
        work = self.functions.get(function.name)
        if work is None:
            return f"Sorry, {function.name} is nothing that I can do."
        try:
            arguments = json.loads(function.arguments or "{}")
        except json.JSONDecodeError as problem:
            return f"Sorry, I cannot read these arguments ({problem})."
        if not isinstance(arguments, dict):
            return f"Sorry, arguments are an object, and these are {type(arguments).__name__}."
        try:
            found = await work(**arguments)
        except Exception as problem:
            return f"Sorry, {function.name} has failed. {type(problem).__name__}: {problem}"
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def offered(tool):
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
    return {"type": "function", "function": function}


async def streamed(client, request, emit):
    async with client.chat.completions.stream(**request) as stream:
        async for event in stream:
            if event.type == "content.delta":
                emit(event.delta)
        return await stream.get_final_completion()


async def ask(client, request, emit, streams):
    completion = await (streamed(client, request, emit) if streams else client.chat.completions.create(**request))
    if not completion.choices:
        raise Unfinished("a completion without a choice")
    choice = completion.choices[0]
    if choice.finish_reason is None:
        raise Unfinished("a completion without a finish reason")
    if choice.finish_reason == "length":
        raise Truncated(choice.message.content)
    if choice.finish_reason == "content_filter" or choice.message.refusal:
        raise Declined(choice.message.refusal or "filtered")
    return choice.message


def echo(message):
    said = {"role": "assistant", "content": message.content}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments or "{}"},
        }
        for call in message.tool_calls or []
    ]
    return said | {"tool_calls": calls} if calls else said


async def converse(client, case, emit):
    sandbox, messages = Sandbox(handlers(case)), list(case["messages"])
    request = {"model": case["model"], "messages": messages}
    if case["tools"]:
        request["tools"] = [offered(tool) for tool in case["tools"]]
    for _ in range(case["options"].get("limit", MAX_REQUESTS)):
        message = await ask(client, request, emit, case["stream"])
        if not message.tool_calls:
            return message.content or ""
        messages.append(echo(message))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(sandbox.answer(call)) for call in message.tool_calls]
        messages.extend(task.result() for task in tasks)
    raise OutOfRequests("the model has not answered")


class Driver:
    def start(self):
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True, "parallel": True, "cancel": True}
        return started("chat with the stream helper", "1", wires=["openai-chat"], modes=["async"], **able)

    async def run_async(self, case, emit):
        try:
            async with openai.AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"]) as client:
                return value(await converse(client, case, emit))
        except Exception as problem:
            return error(problem, reasons=REASONS)
