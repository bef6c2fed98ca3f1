"""The driver of Pydantic AI, at three ages: each case becomes an agent with a model of the case's wire.

A conversation is the list of its messages, which a run that has returned replaces. ``README.md`` says what is chosen
here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from output_classes import written_class
from pydantic_ai import (
    Agent,
    AgentRunResultEvent,
    DeferredToolRequests,
    ExternalToolset,
    ModelMessagesTypeAdapter,
    StructuredDict,
    Tool,
    exceptions,
    messages,
    models,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_jsonable_python
from pydantic_talks import Talk, arguments, asking

try:
    from pydantic_ai import capabilities
except ImportError:  # the first age
    capabilities = None
try:
    from pydantic_ai.mcp import MCPToolset
except ImportError:  # the ages that are installed without the MCP SDK
    MCPToolset = None

from looptck.driver import error, handlers, suspended, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

WIRES = ["openai-chat", "openai-responses", "anthropic-messages"]
"""The first has no search that the service runs itself."""
TIMEOUT = 60
"""Seconds; the clients of the SDKs below have their own, but not the one that they are given here."""
STOPS = {"stop": "end", "length": "length", "content_filter": "content_filter", "tool_call": "calls"}
"""``finish_reason`` of the result's response, in the protocol's words; others have none."""
REASONS = {
    "UsageLimitExceeded": "limit",
    "OutputTokenLimitExceeded": "truncated",
    "ContentFilterError": "truncated",
    "ModelAPIError": "provider",
    "ModelHTTPError": "provider",
}
"""What the classes of ``pydantic_ai.exceptions`` mean; not every age has all of them."""
HTTP: Any = getattr(models, "httpx2", None) or models.httpx
"""The package of HTTP clients that this age takes one from."""
HANDLER = getattr(capabilities, "HandleDeferredToolCalls", None)
"""What asks for approval within a run; the first age has no such capability."""
LEFT = error(asyncio.CancelledError("the caller has left the stream"), "cancelled")


class Driver:
    """Runs the kit's cases on Pydantic AI."""

    def __init__(self) -> None:
        self._http = HTTP.AsyncClient(timeout=TIMEOUT)
        self._talks: dict[str, Talk] = {}
        self._shared: dict[str, Agent[None, Any]] = {}

    def start(self) -> Json:
        """What the loop is and can do."""
        able = ["stream", "chunks", "limit", "concurrent", "parallel"]
        goes_on = ["conversations", "histories", "shared", "cancel", "suspend", "travels", "output"]
        more = [*(["leave"] if VARIANT not in ("events", "iter") else []), *(["confirm"] if HANDLER else [])]
        servers = ["mcp_client"] if MCPToolset else []
        return {
            "protocol": 1,
            "name": f"pydantic-ai@{VARIANT}" if VARIANT else "pydantic-ai",
            "version": version("pydantic-ai-slim"),
            "language": "python",
            "wires": WIRES[1:] if VARIANT == "web-search" else WIRES,
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": dict.fromkeys([*able, *goes_on, *more, *servers], True),
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode, on the event loop of this thread, which no client of another one can share."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        http = HTTP.AsyncClient(timeout=TIMEOUT)
        try:
            run = self._run_of(case, http)
            if not case["stream"]:
                return run.answered(run.agent.run_sync(**run.options))
            if VARIANT == "events":
                return run.answered(run.agent.run_sync(**run.options, event_stream_handler=_hearing(emit)))
            if VARIANT == "iter":
                return loop.run_until_complete(_iterated(run, emit))
            streamed = run.agent.run_stream_sync(**run.options)
            with streamed if hasattr(streamed, "__enter__") else nullcontext(streamed) as response:
                if run.gives_a_value:
                    return run.outcome(response.get_output(), response)
                for heard, text in enumerate(response.stream_text(delta=True), 1):
                    emit(text)
                    if heard == case["options"].get("leave_after"):
                        return LEFT
                return run.outcome(response.get_output(), response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)
        finally:
            loop.run_until_complete(http.aclose())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            run = self._run_of(case, self._http)
            if not case["stream"]:
                return run.answered(await run.agent.run(**run.options))
            if VARIANT == "events":
                return await _listened(run, emit)
            if VARIANT == "iter":
                return await _iterated(run, emit)
            async with run.agent.run_stream(**run.options) as response:
                if run.gives_a_value:
                    return run.outcome(await response.get_output(), response)
                heard = 0
                async for text in response.stream_text(delta=True):
                    emit(text)
                    heard += 1
                    if heard == case["options"].get("leave_after"):
                        return LEFT
                return run.outcome(await response.get_output(), response)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    def _run_of(self, case: Json, http: Any) -> Run:
        """A run: its agent, which is new unless runs share it, and the talk that it goes on with."""
        talk = Talk([message["content"] for message in case["messages"] if message["role"] == "system"], [])
        if resume := case.get("resume"):
            kept = resume["state"]
            talk = Talk(kept["instructions"], ModelMessagesTypeAdapter.validate_python(kept["messages"]))
        if name := case.get("conversation"):
            talk = self._talks.setdefault(name, talk)
        model = _model(case, http)
        if name := case.get("shared"):
            agent = self._shared.setdefault(name, _agent(case, talk.instructions, None))
            return Run(agent, talk, {**arguments(case, talk), "model": model})
        agent = _agent(case, talk.instructions, model)
        return Run(agent, talk, arguments(case, talk), gives_a_value="output_schema" in case)


@dataclass(slots=True)
class Run:
    """One run of an agent."""

    agent: Agent[None, Any]
    talk: Talk
    options: Json
    gives_a_value: bool = False
    """Whether its output is a value of a type, and no text."""

    def answered(self, result: Any) -> Json:
        return self.outcome(result.output, result)

    def outcome(self, output: Any, result: Any) -> Json:
        """The output, which is what one prints, or the calls that wait; with a variant also why the model stopped."""
        self.talk.messages = result.all_messages()
        if isinstance(output, DeferredToolRequests):
            return self._suspended(output.approvals) if output.approvals else {**value(None), "stop": "calls"}
        if self.gives_a_value:
            return value(None, output=to_jsonable_python(output))
        stop = STOPS.get(result.response.finish_reason or "") if VARIANT == "finish-reason" else None
        return {**value(output), "stop": stop} if stop else value(output)

    def _suspended(self, approvals: list[messages.ToolCallPart]) -> Json:
        state = {"instructions": self.talk.instructions, "messages": to_jsonable_python(self.talk.messages)}
        return suspended(
            state, [{"id": one.tool_call_id, "name": one.tool_name, "arguments": one.args} for one in approvals]
        )


async def _listened(run: Run, emit: Callable[[str], None]) -> Json:
    """The run as events, the last of which carries its result."""
    streamed = run.agent.run_stream_events(**run.options)
    async with streamed if hasattr(streamed, "__aenter__") else aclosing(streamed) as events:
        async for event in events:
            if isinstance(event, AgentRunResultEvent):
                return run.answered(event.result)
            _hear(event, emit)
    raise AssertionError("the events of the run ended without a result")


async def _iterated(run: Run, emit: Callable[[str], None]) -> Json:
    """The run node by node, with the stream of each model request."""
    async with run.agent.iter(**run.options) as steps:
        async for node in steps:
            if Agent.is_model_request_node(node):
                async with node.stream(steps.ctx) as stream:
                    async for event in stream:
                        _hear(event, emit)
        return run.answered(steps.result)


def _hearing(emit: Callable[[str], None]) -> Callable[..., Any]:
    async def hear(_: object, events: Any) -> None:
        async for event in events:
            _hear(event, emit)

    return hear


def _hear(event: Any, emit: Callable[[str], None]) -> None:
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
            emit(text)
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
            emit(text)


def _agent(case: Json, instructions: list[str], model: Model[Any] | None) -> Agent[None, Any]:
    """The case as an agent. A tool that is to have no function is an external one: its calls end the run."""
    functions = handlers(case)
    external = [
        ToolDefinition(name=tool["name"], parameters_json_schema=tool["parameters"], description=tool["description"])
        for tool in case["tools"]
        if tool["name"] not in functions
    ]
    toolsets = [ExternalToolset(external)] if external else []
    toolsets += [MCPToolset(server["url"]) for server in case.get("tool_servers", ())]
    waits = any(tool.get("approval") for tool in case["tools"]) and "confirm" not in case
    output = _output_type(case)
    return Agent(
        model,
        instructions=instructions,
        tools=[_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions],
        toolsets=toolsets,
        output_type=[output, DeferredToolRequests] if external or waits else output,
        **_capable(case),
    )


def _output_type(case: Json) -> Any:
    """What the output is: text, or a model class; a dictionary where no class says the schema."""
    if "output_schema" not in case:
        return str
    schema = case["output_schema"]
    return written_class(schema) or StructuredDict(schema, name="Output")


def _capable(case: Json) -> dict[str, Any]:
    """The capabilities of an agent; the first age has none."""
    found: list[Any] = []
    if VARIANT == "web-search":
        from pydantic_ai.native_tools import WebSearchTool

        found.append(capabilities.NativeTool(WebSearchTool()))
    if "confirm" in case:
        found.append(HANDLER(handler=asking(case)))
    return {"capabilities": found} if found else {}


def _tool(tool: Json, call: Callable[..., Any]) -> Any:
    """The tool as a function; with its schema where no signature says it, or the variant wants it."""
    function = None if VARIANT == "schema" else written(tool, call)
    if function is not None:
        return Tool(function, requires_approval=True) if tool.get("approval") else function
    made = Tool.from_schema(call, tool["name"], tool["description"], tool["parameters"])
    made.requires_approval = bool(tool.get("approval"))
    return made


def _model(case: Json, http: Any) -> Model[Any]:
    name, url, key = case["model"], case["base_url"], case["api_key"]
    if case["wire"] == "anthropic-messages":
        anthropic = AnthropicProvider(base_url=url.removesuffix("/v1"), api_key=key, http_client=http)
        return AnthropicModel(name, provider=anthropic)
    openai = OpenAIProvider(base_url=url, api_key=key, http_client=http)
    model = OpenAIResponsesModel if case["wire"] == "openai-responses" else OpenAIChatModel
    profile = {"profile": openai.model_profile("gpt-5")} if VARIANT == "openai-profile" else {}
    return model(name, provider=openai, **profile)


def _failed(exception: Exception) -> Json:
    kinds = [(getattr(exceptions, name, ()), reason) for name, reason in REASONS.items()]
    return error(exception, next((reason for kind, reason in kinds if isinstance(exception, kind)), None))
