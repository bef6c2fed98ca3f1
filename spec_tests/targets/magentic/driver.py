"""The driver of magentic: a function decorated by ``prompt_chain``, with a model of the case's wire.

``README.md`` says what is chosen here. Annotations are evaluated in this file, as magentic takes them as they are.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from magentic import AssistantMessage, SystemMessage, UserMessage, prompt_chain
from magentic.chat_model.anthropic_chat_model import AnthropicChatModel
from magentic.chat_model.openai_chat_model import OpenaiChatModel
from pydantic import Field

from looptck.driver import Case, Outcome, Started, error, handlers, started, value
from looptck.signatures import written

SAYS = {"system": SystemMessage, "user": UserMessage, "assistant": AssistantMessage}


class Driver:
    """Runs the kit's cases on `prompt_chain`."""

    def start(self) -> Started:
        """What the chain is and can do: its models always ask for event streams, and its caller gets the whole text."""
        return started(
            "magentic",
            version("magentic"),
            wires=["openai-chat", "anthropic-messages"],
            modes=["sync", "async"],
            plain=False,
            stream=True,
            concurrent=True,
        )

    def run(self, case: Case, emit: Any) -> Outcome:
        """Call a decorated function."""

        def answer() -> str: ...  # type: ignore[empty-body]

        try:
            return value(_chain(case)(answer)())
        except Exception as exception:  # noqa: BLE001 - any error of the chain is an outcome
            return error(exception)

    async def run_async(self, case: Case, emit: Any) -> Outcome:
        """Call a decorated coroutine function."""

        async def answer() -> str: ...  # type: ignore[empty-body]

        try:
            return value(await _chain(case)(answer)())
        except Exception as exception:  # noqa: BLE001 - any error of the chain is an outcome
            return error(exception)


def _chain(case: Case) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    functions = handlers(case)
    signed = {tool["name"]: tool for tool in case["tools"] if tool["name"] in functions}
    tools = [written(tool, functions[name], annotated=_described) for name, tool in signed.items()]
    return prompt_chain(
        [SAYS[one["role"]](_escaped(one["content"])) for one in case["messages"]],
        functions=[tool for tool in tools if tool],
        model=_model(case),
    )


def _described(text: str) -> Any:
    return Field(description=text)


def _escaped(text: str) -> str:
    """The text in a template, where braces stand for the parameters of the function."""
    return text.replace("{", "{{").replace("}", "}}")


def _model(case: Case) -> Any:
    if case["wire"] == "anthropic-messages":
        url = case["base_url"].removesuffix("/v1")
        return AnthropicChatModel(case["model"], api_key=case["api_key"], base_url=url)
    return OpenaiChatModel(case["model"], api_key=case["api_key"], base_url=case["base_url"])
