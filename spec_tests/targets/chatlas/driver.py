"""The driver of chatlas: a ``Chat`` with the provider of the case's wire.

``README.md`` says what is chosen here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from chatlas import AssistantTurn, Chat, ChatAnthropic, ChatOpenAI, ChatOpenAICompletions, Tool, UserTurn
from pydantic import Field

from looptck.driver import Case, Outcome, Started, error, handlers, started, value
from looptck.signatures import written

SAYS = {"user": UserTurn, "assistant": AssistantTurn}


class Driver:
    """Runs the kit's cases on chatlas."""

    def start(self) -> Started:
        """What a chat is and can do. Its caller gets the text of all rounds."""
        return started(
            "chatlas",
            version("chatlas"),
            wires=["openai-chat", "openai-responses", "anthropic-messages"],
            modes=["sync", "async"],
            dialect={"answer_text": "all-rounds"},
            stream=True,
            chunks=True,
            concurrent=True,
        )

    def run(self, case: Case, emit: Callable[[str], None]) -> Outcome:
        """Run one case in sync mode."""
        try:
            chat, question = _made(case)
            if not case["stream"]:
                return value(str(chat.chat(question, echo="none", stream=False)))
            pieces = []
            for piece in chat.stream(question):
                emit(piece)
                pieces.append(piece)
            return value("".join(pieces))
        except Exception as exception:  # noqa: BLE001 - any error of the chat is an outcome
            return error(exception)

    async def run_async(self, case: Case, emit: Callable[[str], None]) -> Outcome:
        """Run one case in async mode."""
        try:
            chat, question = _made(case)
            if not case["stream"]:
                return value(await (await chat.chat_async(question, echo="none", stream=False)).get_content())
            pieces = []
            async for piece in await chat.stream_async(question):
                emit(piece)
                pieces.append(piece)
            return value("".join(pieces))
        except Exception as exception:  # noqa: BLE001 - any error of the chat is an outcome
            return error(exception)


def _made(case: Case) -> tuple[Chat[Any, Any], str]:
    """A new chat with the earlier turns, and the question."""
    system = [one["content"] for one in case["messages"] if one["role"] == "system"]
    *before, question = [one for one in case["messages"] if one["role"] != "system"]
    chat = _provider(case, "\n".join(system) or None)
    chat.set_turns([SAYS[one["role"]](one["content"]) for one in before])
    functions = handlers(case)
    chat.set_tools([_tool(tool, functions[tool["name"]]) for tool in case["tools"] if tool["name"] in functions])
    return chat, question["content"]


def _provider(case: Case, system: str | None) -> Chat[Any, Any]:
    common: dict[str, Any] = {"system_prompt": system, "model": case["model"], "api_key": case["api_key"]}
    if case["wire"] == "anthropic-messages":
        return ChatAnthropic(**common, kwargs={"base_url": case["base_url"].removesuffix("/v1")})
    make = ChatOpenAICompletions if case["wire"] == "openai-chat" else ChatOpenAI
    return make(**common, base_url=case["base_url"])


def _described(text: str) -> Any:
    return Field(description=text)


def _tool(tool: Any, function: Callable[..., Any]) -> Any:
    """The tool as a function; as one with a schema where no signature can express it."""
    if user := written(tool, function, annotated=_described):
        return user
    names = {"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
    return Tool(func=function, **names)
