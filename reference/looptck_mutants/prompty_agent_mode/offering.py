"""Requests with a changed prompt or changed tools: the prompt, `Tool.offered`, and the tools of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks, speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.toolbox import ToolboxClient
from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatWire, ResponsesWire


@breaks("mode-inputs-fill-the-prompt")
class InputsNotFilledIn(Driver):
    """Sends a placeholder instead of the question."""

    def _begin(self, case: Json, toolbox: ToolboxClient, invoker: Invoker) -> Invocation:
        asked = [one if one["role"] == "system" else {**one, "content": "{{question}}"} for one in case["messages"]]
        return super()._begin({**case, "messages": asked}, toolbox, invoker)


@breaks("mode-strict-schema-is-closed")
class LaxBehindLax(Driver):
    """Ignores the `strict` flag of tools after a tool without it."""

    def _begin(self, case: Json, toolbox: ToolboxClient, invoker: Invoker) -> Invocation:
        tools: list[Json] = []
        for tool in case["tools"]:
            lax = any(not one.get("strict") for one in tools)
            tools.append({**tool, "strict": False} if lax else tool)
        return super()._begin({**case, "tools": tools}, toolbox, invoker)


@breaks("mode-strict-schema-requires-its-parameters")
class RequiredOnlyIfCompleted(Tool):
    """Sends an empty `required` in a strict schema that already required all parameters."""

    @property
    def offered(self) -> Json:
        complete = self.parameters.get("required") == [*self.parameters["properties"]]
        return {**super().offered, "required": []} if self.strict and complete else super().offered


@breaks("mode-strict-schema-requires-optional-parameters")
class OptionalStaysOptional(Tool):
    """Closes a strict schema, but does not require its optional parameters."""

    @property
    def offered(self) -> Json:
        return {**super().offered, **_required(self.parameters)}


def _required(schema: Mapping[str, Any]) -> Json:
    """The member `required` of a schema, if it has one."""
    return {"required": schema["required"]} if "required" in schema else {}


@breaks("mode-strict-flag-is-sent")
class FlagNotSent(Driver):
    """Closes the schemas of strict tools, but does not send the `strict` flag."""

    class Chat(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            return super().request(_unflagged(agent), history, stream=stream)

    class Responses(ResponsesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            return super().request(_unflagged(agent), history, stream=stream)

    wires = speaking(chat=Chat(), responses=Responses())


def _unflagged(agent: Agent) -> Agent:
    """The agent, with closed schemas of its strict tools and without their flag."""
    return replace(agent, tools=[replace(tool, parameters=tool.offered, strict=False) for tool in agent.tools])


@breaks("mode-tools-are-offered-every-time")
class FirstToolLater(Loop):
    """Offers only its first tool after two requests."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if self.model_calls > 1:
            self.agent = replace(self.agent, tools=self.agent.tools[:1])


@breaks("mode-plain-and-stream-ask-the-same", cells=CHAT_STREAM)
class StreamForgetsText(ChatWire):
    """Drops the text of earlier turns with calls from streamed requests."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        turns = [message for message in history if message["role"] == "assistant"]
        short = [{**one, "content": None} if one in turns[:-1] else one for one in history]
        return super().request(agent, short if stream else history, stream=stream)
