"""The driver of the OpenAI Agents SDK, at three ages: each case becomes an agent, and ``Runner`` runs its loop.

Tools are decorated functions. The SDK has no streaming for sync callers, who run its async streaming in a loop of their
own; the driver does the same. A conversation is a session, and the agents of its runs are alike. ``README.md`` says
what is chosen here.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from inspect import iscoroutinefunction
from typing import Any

import agents
from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    MaxTurnsExceeded,
    ModelBehaviorError,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

from looptck.driver import confirm, error, handlers, suspended, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

MODELS = {"openai-chat": OpenAIChatCompletionsModel, "openai-responses": OpenAIResponsesModel}
OPTIONS: dict[str, Json] = {"raise-errors": {"failure_error_function": None}, "not-strict": {"strict_mode": False}}
"""What a variant passes to the decorator."""
REFUSALS: tuple[type[Exception], ...] = (agents.ModelRefusalError,) if hasattr(agents, "ModelRefusalError") else ()
"""The error of a refusal, which the SDK has since 0.15."""


ASKS = hasattr(agents, "RunState")
"""Whether tools may need approval, which the SDK has since 0.8."""
SERVES = int(version("mcp").partition(".")[0]) >= 2
"""Whether MCP servers are asked, which is driven with the second MCP SDK alone."""
LEFT = error(asyncio.CancelledError("the caller has left the stream"), "cancelled")


class Driver:
    """Runs the kit's cases on the SDK."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[str | None, SQLiteSession]] = {}
        """The instructions and the session of each conversation."""
        self._shared: dict[str, Agent[Any]] = {}

    def start(self) -> Json:
        set_tracing_disabled(True)
        able = ("stream", "chunks", "limit", "concurrent", "parallel")
        goes_on = ("conversations", "histories", "shared", "cancel", "leave", "handoffs", "subagents")
        approval = ("confirm", "suspend", "travels") if ASKS else ()
        servers = ("mcp_client",) if SERVES else ()
        return {
            "protocol": 1,
            "name": f"openai-agents@{VARIANT}" if VARIANT else "openai-agents",
            "version": version("openai-agents"),
            "language": "python",
            "wires": list(MODELS),
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": dict.fromkeys((*able, *goes_on, *approval, *servers), True),
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode; older versions of ``run_sync`` expect the thread to have an event loop."""
        try:
            if case.get("tool_servers"):
                return asyncio.run(self.run_async(case, emit))
            run = self._run_of(case)
            if case["stream"]:
                return asyncio.run(_streamed(run, emit))
            with asyncio.Runner() as runner:
                asyncio.set_event_loop(runner.get_loop())
                said = runner.run(run.said())
                while True:
                    result = Runner.run_sync(run.agent, said, **run.options)
                    if not run.is_asked_about(result):
                        return run.answered(result)
                    said = runner.run(run.decided(result))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        try:
            run = self._run_of(case)
            async with AsyncExitStack() as stack:
                for server in case.get("tool_servers", ()):
                    run.agent.mcp_servers.append(await stack.enter_async_context(_server(server)))
                return await (_streamed(run, emit) if case["stream"] else _whole(run))
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    def _run_of(self, case: Json) -> Run:
        """A run: its agent, and its options. The client is new, for it is bound to one event loop."""
        client = AsyncOpenAI(base_url=case["base_url"], api_key=case["api_key"])
        model = MODELS[case["wire"]](model=case["model"], openai_client=client)
        system = [message["content"] for message in case["messages"] if message["role"] == "system"]
        instructions = "\n\n".join(system) or None
        options: Json = {"max_turns": case["options"]["limit"]} if "limit" in case["options"] else {}
        if "resume" in case:
            instructions = case["resume"]["state"]["instructions"]
        if name := case.get("conversation"):
            instructions, session = self._sessions.setdefault(name, (instructions, SQLiteSession(name)))
            options["session"] = session
        if name := case.get("shared"):
            agent = self._shared.setdefault(name, _agent(case, instructions, model))
            return Run(case, agent, {**options, "run_config": RunConfig(model=model)})
        agent = _team(case, model) if "agents" in case else _agent(case, instructions, model)
        return Run(case, agent, options)


@dataclass(slots=True)
class Run:
    """One run of an agent."""

    case: Json
    agent: Agent[Any]
    options: Json

    async def said(self) -> Any:
        """What the run begins with: the user's text, items if there are several, or the state of a suspended run."""
        if resume := self.case.get("resume"):
            state = await agents.RunState.from_json(self.agent, resume["state"]["run"])
            decisions = {one["id"]: one for one in resume["decisions"]}
            for item in state.get_interruptions():
                _decide(state, item, decisions[_id(item)])
            return state
        said = [message for message in self.case["messages"] if message["role"] != "system"]
        return said[0]["content"] if len(said) == 1 else [item for message in said for item in _items(message)]

    def is_asked_about(self, result: Any) -> bool:
        """Whether calls wait for a decision that the case has a place to ask for."""
        return bool("confirm" in self.case and getattr(result, "interruptions", None))

    async def decided(self, result: Any) -> Any:
        """The state of a run with a decision for each call that waits, as the page on approval makes it."""
        state = result.to_state()
        for item in result.interruptions:
            about = (_id(item), item.name, item.arguments)
            _decide(state, item, await asyncio.to_thread(confirm, self.case, *about))
        return state

    def answered(self, result: Any) -> Json:
        """The final output or the calls that wait; nothing tells the caller why the model stopped."""
        waiting = getattr(result, "interruptions", None)
        if not waiting:
            return value(result.final_output)
        calls = [{"id": _id(item), "name": item.name, "arguments": item.arguments} for item in waiting]
        return suspended({"instructions": self.agent.instructions, "run": result.to_state().to_json()}, calls)


async def _whole(run: Run) -> Json:
    said = await run.said()
    while True:
        result = await Runner.run(run.agent, said, **run.options)
        if not run.is_asked_about(result):
            return run.answered(result)
        said = await run.decided(result)


def _server(server: Json) -> MCPServerStreamableHttp:
    return MCPServerStreamableHttp(params={"url": server["url"]}, name=server["name"])


async def _streamed(run: Run, emit: Callable[[str], None]) -> Json:
    said = await run.said()
    while True:
        result = Runner.run_streamed(run.agent, said, **run.options)
        left = run.case["options"].get("leave_after")
        async for event in result.stream_events():
            if left != 0 and event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
                emit(event.data.delta)
                left = left and left - 1
                if left == 0:
                    result.cancel()
        if left == 0:
            return LEFT
        if not run.is_asked_about(result):
            return run.answered(result)
        said = await run.decided(result)


def _id(item: Any) -> str:
    """The id of a call that waits; its raw item is a mapping once the state was read from JSON."""
    raw = item.raw_item
    return str(raw["call_id"] if isinstance(raw, dict) else raw.call_id)


def _decide(state: Any, item: Any, decision: Json) -> None:
    match decision["decision"]:
        case "approve":
            state.approve(item)
        case "reject":
            state.reject(item, rejection_message=decision.get("feedback"))
        case _:
            raise NotImplementedError("an approval cannot change a call")


def _items(message: Json) -> list[Json]:
    """A message of an earlier turn as items of Responses, which the SDK takes on both wires."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["call_id"], "output": message["content"]}]
    said = [{"role": message["role"], "content": message["content"]}] if message["content"] else []
    made = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
        }
        for call in message.get("calls", [])
    ]
    return [*said, *made]


def _agent(case: Json, instructions: str | None, model: Any) -> Agent[Any]:
    calls = handlers(case)
    return Agent(
        name=case["agent"]["name"],
        instructions=instructions,
        model=model,
        tools=[_tool(tool, calls[tool["name"]]) for tool in case["tools"] if tool["url"]],
    )


def _team(case: Json, model: Any) -> Agent[Any]:
    """The first of several agents. Handoffs and agents as tools have the names that the SDK gives them."""
    calls = handlers(case)
    tools = {tool["name"]: _tool(tool, calls[tool["name"]]) for tool in case["tools"]}
    team = {
        one["name"]: Agent(
            name=one["name"],
            handoff_description=one["description"],
            instructions=one["instructions"],
            model=model,
            tools=[tools[name] for name in one["tools"]],
        )
        for one in case["agents"]
    }
    for one in case["agents"]:
        agent = team[one["name"]]
        agent.handoffs = [team[name] for name in one["handoffs"]]
        below = [two for two in case["agents"] if two["name"] in one["subagents"]]
        agent.tools += [team[two["name"]].as_tool(None, two["description"]) for two in below]
    return team[case["agents"][0]["name"]]


def _tool(tool: Json, call: Callable[..., Any]) -> FunctionTool:
    """The tool as a decorated function, without ``strict_mode`` where the SDK asks for that."""
    function = None if VARIANT == "schema" else written(tool, call)
    if function is None:
        return _custom(tool, call)
    options = {**OPTIONS.get(VARIANT, {}), **_approval(tool)}
    try:
        return function_tool(**options)(function)
    except UserError:
        return function_tool(**{**options, "strict_mode": False})(function)


def _custom(tool: Json, call: Callable[..., Any]) -> FunctionTool:
    """The SDK's way for tools that come with a schema: the tool reads its arguments and sees to its errors itself."""

    async def invoke(context: Any, arguments: str) -> Any:
        values = json.loads(arguments)
        return await call(**values) if iscoroutinefunction(call) else await asyncio.to_thread(call, **values)

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
        **_approval(tool),
    )


def _approval(tool: Json) -> Json:
    return {"needs_approval": True} if tool.get("approval") and ASKS else {}


def _failed(exception: Exception) -> Json:
    if isinstance(exception, MaxTurnsExceeded):
        return error(exception, "limit")
    if isinstance(exception, REFUSALS):
        return error(exception, "refusal")
    if isinstance(exception, UserError):
        return error(exception, "tool")
    if isinstance(exception, ModelBehaviorError) and str(exception).startswith("Tool "):
        return error(exception, "unknown-tool")
    return error(exception, "stream" if isinstance(exception, AgentsException) else None)
