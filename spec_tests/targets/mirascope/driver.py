"""The driver of Mirascope: the loop of its README, which executes tools and resumes the response.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from mirascope import llm
from mirascope.llm.tools.tool_schema import ToolParameterSchema

from looptck.driver import error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]

MODELS = {
    "openai-chat": "openai/{}:completions",
    "openai-responses": "openai/{}:responses",
    "anthropic-messages": "anthropic/{}",
}
STOPS = {None: "end", llm.FinishReason.MAX_TOKENS: "length", llm.FinishReason.REFUSAL: "refusal"}
"""``finish_reason`` of a response in the protocol's words."""
REASONS: dict[type[BaseException], Any] = {llm.ProviderError: "provider"}


class Driver:
    """Runs the kit's cases on Mirascope, one after the other: the URL of a provider is registered for the process."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "mirascope",
            "version": version("mirascope"),
            "language": "python",
            "wires": list(MODELS),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {"stream": True, "chunks": True, "histories": True, "cancel": True, "leave": True},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            model, said, tools = _question(case)
            if case["stream"]:
                return _streamed(model.stream(said, tools=tools), _Chunks(emit, case["options"].get("leave_after")))
            response = model.call(said, tools=tools)
            while response.tool_calls:
                response = response.resume(response.execute_tools())
            return _answered(response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode. Cancelling it is cancelling its task."""
        try:
            model, said, tools = _question(case)
            if case["stream"]:
                chunks = _Chunks(emit, case["options"].get("leave_after"))
                return await _streamed_async(await model.stream_async(said, tools=tools), chunks)
            response = await model.call_async(said, tools=tools)
            while response.tool_calls:
                response = await response.resume(await response.execute_tools())
            return _answered(response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)


class _Left(Exception):
    """The caller has left the stream."""


class _Chunks:
    """Hands on each chunk, and leaves the stream after so many."""

    def __init__(self, emit: Callable[[str], None], leave_after: int | None) -> None:
        self._emit = emit
        self._leave_after = leave_after
        self._count = 0

    def hear(self, chunk: str) -> None:
        """Hand on a chunk. Raises _Left after the last that the caller hears."""
        self._emit(chunk)
        self._count += 1
        if self._count == self._leave_after:
            raise _Left("the caller left the stream")


def _streamed(response: Any, chunks: _Chunks) -> Json:
    while True:
        for stream in response.streams():
            if stream.content_type == "text":
                for delta in stream:
                    chunks.hear(delta)
            elif stream.content_type == "tool_call":
                stream.collect()
        if not response.tool_calls:
            return _answered(response)
        response = response.resume(response.execute_tools())


async def _streamed_async(response: Any, chunks: _Chunks) -> Json:
    while True:
        async for stream in response.streams():
            if stream.content_type == "text":
                async for delta in stream:
                    chunks.hear(delta)
            elif stream.content_type == "tool_call":
                await stream.collect()
        if not response.tool_calls:
            return _answered(response)
        response = await response.resume(await response.execute_tools())


def _question(case: Json) -> tuple[llm.Model, Sequence[Any], list[Any]]:
    """The model of the case, its messages and its tools."""
    anthropic = case["wire"] == "anthropic-messages"
    url = case["base_url"].removesuffix("/v1") if anthropic else case["base_url"]
    llm.register_provider("anthropic" if anthropic else "openai", api_key=case["api_key"], base_url=url)
    functions = handlers(case)
    tools = [_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions]
    return llm.Model(MODELS[case["wire"]].format(case["model"])), _said(case["messages"]), tools


def _tool(tool: Json, call: Callable[..., Any]) -> Any:
    """The tool as a decorated function; with its schema where no signature says it."""
    function = written(tool, call)
    if function is not None:
        return llm.tool(strict=False)(function) if _is_nested(tool["parameters"]) else llm.tool(function)
    schema = ToolParameterSchema(**tool["parameters"])
    kind = llm.AsyncTool if asyncio.iscoroutinefunction(call) else llm.Tool
    return kind(fn=call, name=tool["name"], description=tool["description"], parameters=schema, strict=False)


def _is_nested(schema: Json) -> bool:
    """Whether a parameter is an object with members of its own, or a list of such objects."""
    ones = [one for one in schema.get("properties", {}).values() if isinstance(one, dict)]
    return any("properties" in part for one in ones for part in (one, one.get("items", {})))


def _said(messages: list[Json]) -> list[Any]:
    """The messages; results of one turn are one message of the user."""
    names = {call["id"]: call["name"] for message in messages for call in message.get("calls", ())}
    found: list[Any] = []
    results: list[Any] = []
    for message in messages:
        if message["role"] == "tool":
            id = message["call_id"]
            results.append(llm.ToolOutput(id=id, name=names[id], result=message["content"]))
            continue
        if results:
            found.append(llm.messages.user(results))
            results = []
        found.append(_message(message))
    return [*found, llm.messages.user(results)] if results else found


def _message(message: Json) -> Any:
    if message["role"] == "system":
        return llm.messages.system(message["content"])
    if message["role"] == "user":
        return llm.messages.user(message["content"])
    calls = [
        llm.ToolCall(id=call["id"], name=call["name"], args=json.dumps(call["arguments"]))
        for call in message.get("calls", ())
    ]
    content = [*([message["content"]] if message["content"] else []), *calls]
    return llm.messages.assistant(content, model_id=None, provider_id=None)


def _answered(response: Any) -> Json:
    """The text of the last response, and why it ended."""
    return value(response.text(), stop=STOPS.get(response.finish_reason, "other"))


def _failed(exception: Exception) -> Json:
    return error(exception, "cancelled" if isinstance(exception, _Left) else None, reasons=REASONS)
