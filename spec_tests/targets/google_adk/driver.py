"""The driver of the Agent Development Kit: each case becomes an ``Agent`` that a ``Runner`` runs in a session.

Models are those of LiteLLM, by the wire of the case. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import iscoroutinefunction
from itertools import count
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # LiteLLM reads it when it is imported

import litellm  # noqa: F401 - ADK imports it in the first run, which takes seconds
from adk_events import ASKS, confirmation, history_of, text_of
from google.adk.agents import Agent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import BaseTool, FunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from output_classes import written_class

from looptck.driver import confirm, error, handlers, started, suspended, value
from looptck.signatures import written

VARIANT = os.environ.get("LOOPTCK_VARIANT", "")
"""The second usual way that is to be driven (``variants.yaml``); empty for the first."""

Json = dict[str, Any]

PROVIDERS = {"openai-chat": "openai", "anthropic-messages": "anthropic"}
"""What a model of LiteLLM is named after, by the wire."""
APP, USER = "looptck", "caller"
OUTPUT = "output"
"""The key under which the state of a session has the output of its agent."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A session of a runner."""

    runner: Runner
    session: str

    async def begin(self, history: list[Event]) -> None:
        """Create the session, with these events in it."""
        service = self.runner.session_service
        session = await service.create_session(app_name=APP, user_id=USER, session_id=self.session)
        for event in history:
            await service.append_event(session, event)


@dataclass(slots=True)
class Heard:
    """What the events of a run have said so far."""

    emit: Callable[[str], None]
    left: int | None
    """The number of chunks after which the caller leaves."""
    chunks: int = 0
    answer: str | None = None
    output: Any = None
    pending: list[Json] = field(default_factory=list)
    error: Json | None = None

    def event(self, event: Event) -> bool:
        """Hear an event; whether the caller leaves at it."""
        text = text_of(event)
        if event.partial:
            if text:
                self.emit(text)
                self.chunks += 1
            return self.chunks == self.left
        for call in event.get_function_calls():
            if call.name == ASKS:
                asked = call.args["originalFunctionCall"]
                self.pending.append({"id": call.id, "name": asked["name"], "arguments": asked["args"]})
        if event.is_final_response() and event.content and event.content.parts:
            self.answer = text
        self.output = event.actions.state_delta.get(OUTPUT, self.output)
        if VARIANT == "error-code" and event.error_code:
            said = {"type": str(event.error_code), "message": event.error_message or ""}
            self.error = {"kind": "error", "reason": "other", **said}
        return False

    def outcome(self, chat: Chat, case: Json) -> Json:
        """The outcome of a run that ended by itself."""
        if self.pending:
            return suspended(chat.session, self.pending)
        if "output_schema" in case:
            return self.error or value(None, output=self.output)
        return self.error or value(self.answer)


LEFT = error(asyncio.CancelledError("the caller has left"), "cancelled")


class Driver:
    """Runs the kit's cases on the Agent Development Kit."""

    def __init__(self) -> None:
        self._chats: dict[str, Chat] = {}
        self._shared: dict[str, Runner] = {}
        self._numbers = count(1)

    def start(self) -> Json:
        """What the loop is and can do. A run in sync mode is a thread of the runner that nothing cancels."""
        return started(
            f"google-adk@{VARIANT}" if VARIANT else "google-adk",
            version("google-adk"),
            wires=list(PROVIDERS),
            modes=["sync", "async"],
            dialect={"limit_counts": "model-calls", "rejections": "bare"},
            stream=True,
            chunks=True,
            limit=True,
            concurrent=True,
            conversations=True,
            histories=True,
            shared=True,
            cancel=True,
            leave=True,
            confirm=True,
            suspend=True,
            output=True,
            handoffs=True,
            subagents=True,
        )

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            chat, history = self._chat(case)
            if history is not None:
                asyncio.run(chat.begin(history))
            heard = Heard(emit, case["options"].get("leave_after"))
            for event in chat.runner.run(**_arguments(case, chat)):
                if heard.event(event):
                    return LEFT
            return heard.outcome(chat, case)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode."""
        try:
            chat, history = self._chat(case)
            if history is not None:
                await chat.begin(history)
            heard = Heard(emit, case["options"].get("leave_after"))
            async for event in chat.runner.run_async(**_arguments(case, chat)):
                if heard.event(event):
                    return LEFT
            return heard.outcome(chat, case)
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)

    def _chat(self, case: Json) -> tuple[Chat, list[Event] | None]:
        """The session of the case, and the events that it begins with; None if it has begun already."""
        if "resume" in case:
            return self._chats[case["resume"]["state"]], None
        name = case.get("conversation", f"session-{next(self._numbers)}")
        if name in self._chats:
            return self._going_on(self._chats[name], case), None
        chat = self._chats[name] = Chat(self._runner(case), name)
        said = [message for message in case["messages"] if message["role"] != "system"]
        return chat, history_of(said[:-1], chat.runner.agent.name)

    def _going_on(self, chat: Chat, case: Json) -> Chat:
        """The session with an agent for an output, or without one, as its next run wants."""
        before = chat.runner.agent
        if "agents" in case or ("output_schema" in case) == (before.output_schema is not None):
            return chat
        agent = _agent(case, before.instruction)
        return Chat(Runner(app_name=APP, agent=agent, session_service=chat.runner.session_service), chat.session)

    def _runner(self, case: Json) -> Runner:
        shared = self._shared.get(case.get("shared", ""))
        agent = _member(case, case["agents"][0]["name"], set()) if "agents" in case else _agent(case)
        runner = shared or Runner(app_name=APP, agent=agent, session_service=InMemorySessionService())
        if "shared" in case:
            self._shared[case["shared"]] = runner
        return runner


def _member(case: Json, name: str, above: set[str]) -> Agent:
    """One of several agents; those to whom it may hand over are below it, but those ``above``, and others are tools."""
    one = next(one for one in case["agents"] if one["name"] == name)
    functions = handlers(case)
    tools = [tool for tool in case["tools"] if tool["name"] in one["tools"]]
    return Agent(
        name=name,
        description=one["description"],
        model=_model(case),
        instruction=one["instructions"],
        tools=[
            *(_tool(tool, functions[tool["name"]], confirmed=False) for tool in tools),
            *(AgentTool(_member(case, below, set())) for below in one["subagents"]),
        ],
        sub_agents=[_member(case, other, {*above, name}) for other in one["handoffs"] if other not in above],
        before_tool_callback=_asking(case) if "confirm" in case else None,
    )


def _agent(case: Json, instruction: str = "") -> Agent:
    functions = handlers(case)
    guarded = _guarded(case)
    system = [message["content"] for message in case["messages"] if message["role"] == "system"]
    asks = "confirm" in case
    return Agent(
        name=re.sub(r"\W", "_", case["agent"]["name"]),
        description=case["agent"]["description"],
        model=_model(case),
        instruction="\n\n".join(system) or instruction,
        tools=[
            _tool(one, functions[one["name"]], confirmed=not asks and one["name"] in guarded)
            for one in case["tools"]
            if one["name"] in functions
        ],
        before_tool_callback=_asking(case) if asks else None,
        **_output(case),
    )


def _guarded(case: Json) -> set[str]:
    """The names of the tools whose calls need approval."""
    return {one["name"] for one in case["tools"] if one.get("approval")}


def _output(case: Json) -> Json:
    """A model class for the output, or the schema as it comes; and the key under which a caller finds the value."""
    schema = case.get("output_schema")
    return {"output_schema": written_class(schema) or schema, "output_key": OUTPUT} if schema else {}


def _model(case: Json) -> LiteLlm:
    url = case["base_url"]
    if case["wire"] == "anthropic-messages":
        url = url.removesuffix("/v1")
    return LiteLlm(model=f"{PROVIDERS[case['wire']]}/{case['model']}", api_base=url, api_key=case["api_key"])


def _asking(case: Json) -> Callable[..., Any]:
    """A callback that asks before a call that needs approval; what it returns is the result in place of the tool's."""
    guarded = _guarded(case)

    async def before(tool: BaseTool, args: Json, tool_context: Any) -> Json | None:
        if tool.name not in guarded:
            return None
        decided = await asyncio.to_thread(confirm, case, tool_context.function_call_id, tool.name, args)
        if decided["decision"] == "reject":
            return {"error": decided.get("feedback", "This call was rejected.")}
        if decided["decision"] == "change":
            args.update(decided["parameters"])
        return None

    return before


def _tool(offered: Json, call: Callable[..., Any], *, confirmed: bool) -> Any:
    """The tool as a function; as a tool with a declaration where no signature can express its schema."""
    if function := written(offered, call):
        return FunctionTool(function, require_confirmation=True) if confirmed else function
    return Declared(offered, call)


class Declared(BaseTool):
    """A tool that brings its own JSON Schema."""

    def __init__(self, offered: Json, call: Callable[..., Any]) -> None:
        super().__init__(name=offered["name"], description=offered["description"])
        self._schema = offered["parameters"]
        self._call = call

    def _get_declaration(self) -> types.FunctionDeclaration:
        about = {"name": self.name, "description": self.description}
        return types.FunctionDeclaration(**about, parameters_json_schema=self._schema)

    async def run_async(self, *, args: Json, tool_context: Any) -> Any:
        if iscoroutinefunction(self._call):
            return await self._call(**args)
        return self._call(**args)


def _arguments(case: Json, chat: Chat) -> Json:
    """The arguments of the run: the session, the new message, and the configuration."""
    if "resume" in case:
        parts = [confirmation(one) for one in case["resume"]["decisions"]]
    else:
        parts = [types.Part(text=case["messages"][-1]["content"])]
    options: Json = {"streaming_mode": StreamingMode.SSE} if case["stream"] else {}
    if "limit" in case["options"]:
        options["max_llm_calls"] = case["options"]["limit"]
    return {
        "user_id": USER,
        "session_id": chat.session,
        "new_message": types.Content(role="user", parts=parts),
        "run_config": RunConfig(**options),
    }


def _failed(exception: Exception) -> Json:
    return error(exception, reasons={LlmCallsLimitExceededError: "limit"})
