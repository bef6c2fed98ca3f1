"""The driver of Anthropic's tool runner, at several ages of the SDK, with one client for all cases.

Where the runner knows message threads it talks over one, as it does by itself, and a conversation is such a thread;
elsewhere it is a list of messages. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import signature
from typing import Any

from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

from looptck.driver import error, handlers, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

NOWHERE = "http://127.0.0.1:9"
MAX_TOKENS = 1024
BETAS = {"betas": ["mcp-client-2025-11-20"]}
"""What a request that names MCP servers has to ask for, at all ages."""
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
"""The service's search, in the form that all ages know."""
VARIANTS: dict[str, Json] = {"no-threads": {"thread": False}, "eager": {"run_tools_eagerly": True}}
"""What a variant passes to the runner; the others are about the tools."""
STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
"""What the caller can read from the final message's ``stop_reason``, in the protocol's words; others have none."""


LEFT = error(RuntimeError("the caller has left the stream"), "cancelled")


class Driver:
    """Runs the kit's cases on ``client.beta.messages.tool_runner``."""

    def __init__(self) -> None:
        self._client = Anthropic(api_key="-", base_url=NOWHERE)
        self._async_client = AsyncAnthropic(api_key="-", base_url=NOWHERE)
        knows_threads = "thread" in signature(self._client.beta.messages.tool_runner).parameters
        self._leans = knows_threads and VARIANT != "no-threads"
        self._talks: dict[str, Talk] = {}

    def start(self) -> Json:
        """What the loop is and can do. No runner starts a call before the last one has returned, async or not."""
        able = ("stream", "chunks", "limit", "concurrent", "mcp", "hosted", "hosted_others")
        goes_on = ("histories", "cancel", "leave", *(("conversations",) if VARIANT != "eager" else ()))
        return {
            "protocol": 1,
            "name": f"anthropic tool runner@{VARIANT}" if VARIANT else "anthropic tool runner",
            "version": version("anthropic"),
            "language": "python",
            "wires": ["anthropic-messages"],
            "modes": ["sync", "async"],
            "profiles": ["anthropic-loop"],
            "capabilities": {
                **dict.fromkeys((*able, *goes_on), True),
                "memory": self._leans,
                "eager": VARIANT == "eager",
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        functions = handlers(case)
        tools = [_offered(tool, functions, beta_tool, _as_text) for tool in case["tools"]] + _hosted(case)
        try:
            talk, runner = self._begun(case, self._client, tools)
            left = case["options"].get("leave_after")
            for item in runner if case["stream"] or talk.is_list else ():
                if case["stream"]:
                    with item:
                        for event in item:
                            if event.type == "text":
                                emit(event.text)
                                left = left and left - 1
                                if left == 0:
                                    break
                if left == 0:
                    if hasattr(runner, "close"):
                        runner.close()
                    return LEFT
                if talk.is_list:
                    talk.heard(item.get_final_message() if case["stream"] else item)
                    talk.answered(runner.generate_tool_call_response())
            return _answered(runner.until_done())
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        functions = handlers(case)
        tools = [_offered(tool, functions, beta_async_tool, _as_text_async) for tool in case["tools"]] + _hosted(case)
        try:
            talk, runner = self._begun(case, self._async_client, tools)
            if not case["stream"] and not talk.is_list:
                return _answered(await runner.until_done())
            left = case["options"].get("leave_after")
            async for item in runner:
                if case["stream"]:
                    async with item:
                        async for event in item:
                            if event.type == "text":
                                emit(event.text)
                                left = left and left - 1
                                if left == 0:
                                    break
                if left == 0:
                    if hasattr(runner, "close"):
                        await runner.close()
                    return LEFT
                if talk.is_list:
                    talk.heard(await item.get_final_message() if case["stream"] else item)
                    talk.answered(await runner.generate_tool_call_response())
            return _answered(await runner.until_done())
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    def _begun(self, case: Json, client: Any, tools: list[Any]) -> tuple[Talk, Any]:
        """The conversation, and the runner of the case; runs of one conversation have the same client and fields."""
        said = _messages([message for message in case["messages"] if message["role"] != "system"])
        name = case.get("conversation")
        if name is None:
            beta = client.with_options(**_place(case)).beta
            return Talk(), beta.messages.tool_runner(tools=tools, messages=said, **_request(case), **_options(case))
        talk = self._talks.get(name)
        if talk is None:
            beta, request = client.with_options(**_place(case)).beta, _request(case)
            thread = beta.messages.thread(tools=tools, **request) if self._leans else None
            talk = self._talks[name] = Talk(not self._leans, beta, request, thread)
        if talk.thread is not None:
            talk.thread.append(*said)
            return talk, talk.thread.tool_runner(**_options(case))
        talk.messages += said
        return talk, talk.beta.messages.tool_runner(
            tools=tools, messages=[*talk.messages], **talk.request, **_options(case)
        )


@dataclass(slots=True)
class Talk:
    """A conversation: a message thread, or else a list of messages, which the caller of the runner fills."""

    is_list: bool = False
    beta: Any = None
    request: Json = field(default_factory=dict)
    thread: Any = None
    messages: list[Json] = field(default_factory=list)

    def heard(self, message: Any) -> None:
        """Keep a turn."""
        self.messages.append({"role": message.role, "content": message.content})

    def answered(self, results: Any) -> None:
        """Keep the results of its calls, if there are any."""
        if results is not None:
            self.messages.append(results)


def _request(case: Json) -> Json:
    """The case as fields of its requests. The Messages API has the system prompt beside the messages."""
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    request: Json = {"model": case["model"], "max_tokens": MAX_TOKENS}
    if system:
        request["system"] = "\n\n".join(system)
    if servers := case.get("mcp_servers"):
        request |= {"mcp_servers": [{"type": "url", **server} for server in servers], **BETAS}
    return request


def _options(case: Json) -> Json:
    """The case as options of the runner."""
    options: Json = {"stream": True} if case["stream"] else {}
    if case["stream"] or VARIANT != "eager":
        options |= VARIANTS.get(VARIANT, {})
    if "limit" in case["options"]:
        options["max_iterations"] = case["options"]["limit"]
    return options


def _messages(given: list[Json]) -> list[Json]:
    """Messages of the API. Results of one turn are one message of the user."""
    found: list[Json] = []
    for message in given:
        if message["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": message["call_id"], "content": message["content"]}
            if found and found[-1]["role"] == "user" and isinstance(found[-1]["content"], list):
                found[-1]["content"].append(result)
            else:
                found.append({"role": "user", "content": [result]})
        elif message.get("calls"):
            text = [{"type": "text", "text": message["content"]}] if message["content"] else []
            named = [{"id": one["id"], "name": one["name"], "input": one["arguments"]} for one in message["calls"]]
            found.append({"role": message["role"], "content": [*text, *({"type": "tool_use", **one} for one in named)]})
        else:
            found.append({"role": message["role"], "content": message["content"]})
    return found


def _place(case: Json) -> Json:
    return {"base_url": case["base_url"].removesuffix("/v1"), "api_key": case["api_key"]}


def _offered(
    tool: Json, functions: dict[str, Any], decorator: Callable[..., Any], as_text: Callable[..., Callable[..., Any]]
) -> Any:
    """The tool as a decorated function; without one, as the bare definition, which the runner only offers.

    A schema that no signature says is handed to the decorator, as it is with the variant ``schema`` for all tools.
    """
    about = {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
    if tool["name"] not in functions:
        return about
    call = as_text(functions[tool["name"]]) if VARIANT == "json-results" else functions[tool["name"]]
    function = None if VARIANT == "schema" else written(tool, call)
    return decorator(call, **about) if function is None else decorator(function)


def _hosted(case: Json) -> list[Json]:
    """The tools of the service as they are, and for each MCP server the toolset that the API wants beside it."""
    tools = [tool.get("tool", SEARCH) for tool in case.get("hosted_tools", [])]
    names = [server["name"] for server in case.get("mcp_servers", [])]
    return [*tools, *({"type": "mcp_toolset", "mcp_server_name": name} for name in names)]


def _as_text(handler: Callable[..., Any]) -> Callable[..., str]:
    def call(*positional: Any, **named: Any) -> str:
        return _text(handler(*positional, **named))

    return call


def _as_text_async(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[str]]:
    async def call(*positional: Any, **named: Any) -> str:
        return _text(await handler(*positional, **named))

    return call


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _answered(message: Any) -> Json:
    texts = [block.text for block in message.content if block.type == "text"]
    outcome = value("".join(texts) if texts else None)
    stop = STOPS.get(message.stop_reason)
    return {**outcome, "stop": stop} if stop else outcome
