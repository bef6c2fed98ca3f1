"""The driver of LLM as a library: ``model.chain`` and ``conversation.chain`` run the tool loop.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import llm
from llm.default_plugins.openai_models import AsyncChat, AsyncResponses, Chat, Responses
from llm.parts import TextPart, ToolCallPart, ToolResultPart

from looptck.driver import confirm, error, handlers, value
from looptck.signatures import written

Json = dict[str, Any]

MODELS: dict[str, Any] = {
    "openai-chat/sync": Chat,
    "openai-chat/async": AsyncChat,
    "openai-responses/sync": Responses,
    "openai-responses/async": AsyncResponses,
}
"""The classes of the models that extra-openai-models.yaml lists."""


class Driver:
    """Runs the kit's cases on LLM."""

    def __init__(self) -> None:
        self._conversations: dict[str, Any] = {}
        self._models: dict[str, Any] = {}
        """The models that serve several runs, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "llm",
            "version": version("llm"),
            "language": "python",
            "wires": ["openai-chat", "openai-responses"],
            "modes": ["sync", "async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "mixed": True,
                "conversations": True,
                "histories": True,
                "shared": True,
                "cancel": True,
                "leave": True,
                "confirm": True,
            },
            "dialect": {"limit_counts": "model-calls"},
        }

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in sync mode."""
        try:
            chain = self._chain(case)
            if not case["stream"]:
                return value(chain.text())
            heard = _Heard(emit, case["options"].get("leave_after"))
            for chunk in chain:
                if heard.enough(chunk):
                    break
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)
        return heard.outcome

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case in async mode. Cancelling it is cancelling its task."""
        try:
            chain = self._chain(case)
            if not case["stream"]:
                return value(await chain.text())
            heard = _Heard(emit, case["options"].get("leave_after"))
            async for chunk in chain:
                if heard.enough(chunk):
                    break
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return _failed(exception)
        return heard.outcome

    def _chain(self, case: Json) -> Any:
        """The chain of a question: that of a conversation, or of a model; earlier messages are its history."""
        *before, prompt = [message for message in case["messages"] if message["role"] != "system"]
        system = "\n\n".join(message["content"] for message in case["messages"] if message["role"] == "system")
        options: Json = {"stream": case["stream"], "tools": _tools(case)}
        if "confirm" in case:
            options["before_call"] = _asking_async(case) if case["mode"] == "async" else _asking(case)
        if before:
            options["messages"] = [*([llm.system(system)] if system else []), *_history(before)]
        elif system:
            options["system"] = system
        return self._asked(case).chain(prompt["content"], **options)

    def _asked(self, case: Json) -> Any:
        """What has the method ``chain``: a model, or where there is a limit or a conversation, a conversation."""
        model, id, limit = self._model(case), case.get("conversation"), case["options"].get("limit")
        if id in self._conversations:
            return self._conversations[id]
        if id is None:
            return model if limit is None else model.conversation(chain_limit=limit)
        return self._conversations.setdefault(id, model.conversation(chain_limit=limit))

    def _model(self, case: Json) -> Any:
        """A model for the URL of the case, or that which the case shares."""
        shared = case.get("shared")
        if shared in self._models:
            return self._models[shared]
        model = MODELS[f"{case['wire']}/{case['mode']}"](
            model_id=case["model"],
            model_name=case["model"],
            api_base=case["base_url"],
            reasoning=True,
            supports_tools=True,
        )
        model.needs_key = "looptck"
        model.key = case["api_key"]
        return model if shared is None else self._models.setdefault(shared, model)


class _Heard:
    """What a caller has heard of a stream, which it leaves after so many chunks."""

    def __init__(self, emit: Callable[[str], None], leave_after: int | None) -> None:
        self._emit = emit
        self._leave_after = leave_after
        self._chunks: list[str] = []
        self._left = False

    def enough(self, chunk: str) -> bool:
        """Hand on a chunk; True if the caller leaves."""
        self._emit(chunk)
        self._chunks.append(chunk)
        self._left = len(self._chunks) == self._leave_after
        return self._left

    @property
    def outcome(self) -> Json:
        """The text of all chunks, or that the caller has left."""
        if self._left:
            return error(asyncio.CancelledError("the caller left the stream"), "cancelled")
        return value("".join(self._chunks))


def _tools(case: Json) -> list[Any]:
    """The tools as functions; with their schemas where no signature says them, or there is no function."""
    functions = handlers(case)
    return [_tool(tool, functions.get(tool["name"])) for tool in case["tools"]]


def _tool(tool: Json, call: Callable[..., Any] | None) -> Any:
    function = None if call is None else written(tool, call)
    return function or llm.Tool(tool["name"], tool["description"], tool["parameters"], call)


def _asking(case: Json) -> Callable[[Any, Any], None]:
    """A ``before_call`` that cancels what is not approved."""
    approved = {tool["name"] for tool in case["tools"] if tool.get("approval")}

    def before_call(tool: Any, call: Any) -> None:
        if call.name in approved:
            decision = confirm(case, call.tool_call_id, call.name, call.arguments)
            if decision["decision"] != "approve":
                raise llm.CancelToolCall(decision.get("feedback", ""))

    return before_call


def _asking_async(case: Json) -> Callable[[Any, Any], Any]:
    ask = _asking(case)

    async def before_call(tool: Any, call: Any) -> None:
        await asyncio.to_thread(ask, tool, call)

    return before_call


def _history(messages: list[Json]) -> list[llm.Message]:
    names = {call["id"]: call["name"] for message in messages for call in message.get("calls", ())}
    return [llm.Message(message["role"], _parts(message, names)) for message in messages]


def _parts(message: Json, names: dict[str, str]) -> list[Any]:
    """The text of a message, its calls, or the result that it is."""
    if message["role"] == "tool":
        id = message["call_id"]
        return [ToolResultPart(name=names[id], output=message["content"], tool_call_id=id)]
    calls = [
        ToolCallPart(name=call["name"], arguments=call["arguments"], tool_call_id=call["id"])
        for call in message.get("calls", ())
    ]
    return [TextPart(text=message["content"]), *calls] if message["content"] else list(calls)


def _failed(exception: Exception) -> Json:
    limit = type(exception) is ValueError and str(exception).startswith("Chain limit")
    return error(exception, "limit" if limit else None)
