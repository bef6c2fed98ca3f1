"""Broken loops for the profile ``prompty-agent-mode``: what they load, offer, read and append otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.agent import Agent
from looptck_reference.driver import Driver
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.tools import Tool
from looptck_reference.values import Json, ToolResult, Turn
from looptck_reference.wires import ChatStream, ChatWire
from meta.loops.speaking import speaking, streaming


class Changing(Loop):
    """A loop that begins with another agent than it was given."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(self.changed(agent), **options)

    def changed(self, agent: Agent) -> Agent:
        """The other agent."""
        raise NotImplementedError


class Unfilled(Driver):
    """Asks with the template: `mode-inputs-fill-the-prompt`, `…-agent-file-is-the-prompt`, `…-input-default-…`."""

    class loop(Changing):  # noqa: N801
        def changed(self, agent: Agent) -> Agent:
            told = [one if one["role"] == "system" else {**one, "content": "{{question}}"} for one in agent.messages]
            return replace(agent, messages=told)


class Unresolved(Driver):
    """Takes references by their letter: `mode-environment-default-is-used`."""

    class loop(Changing):  # noqa: N801
        def changed(self, agent: Agent) -> Agent:
            return replace(agent, model="${env:LOOPTCK_NO_SUCH_VARIABLE:looptck-model}")


class Undescribed(Driver):
    """Offers tools by name alone: `mode-declared-tools-are-offered`, `mode-tools-are-offered-every-time`."""

    class loop(Changing):  # noqa: N801
        def changed(self, agent: Agent) -> Agent:
            return replace(agent, tools=[replace(tool, description="") for tool in agent.tools])


class StrictIgnored(Driver):
    """Knows nothing of strict: `mode-strict-schema-is-closed`, `mode-strict-flag-is-sent`, `mode-declared-strict-…`."""

    class loop(Changing):  # noqa: N801
        def changed(self, agent: Agent) -> Agent:
            return replace(agent, tools=[replace(tool, strict=False) for tool in agent.tools])


class NothingRequired(Driver):
    """Closes the schema of a strict tool and requires nothing: `mode-strict-schema-requires-its-parameters`."""

    class loop(Changing):  # noqa: N801
        def changed(self, agent: Agent) -> Agent:
            return replace(agent, tools=[_closed(tool) if tool.strict else tool for tool in agent.tools])


class FunctionsForgotten(Driver):
    """Loads an agent and forgets the functions: `mode-functions-run-for-a-loaded-agent`."""

    class invoker(Invoker):  # noqa: N801
        def begin(self, prompt: Any, inputs: Any = None, tools: Any = (), **options: Any) -> Invocation:
            return super().begin(prompt, inputs, (), **options)


class ToolsOnce(Driver):
    """Offers its tools in the first request only: `mode-tools-are-offered-every-time`."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.agent = replace(self.agent, tools=())


class Forgetful(Driver):
    """Keeps the last round only: `mode-each-request-carries-all-messages`."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            self.history = self.wire.opening(self.agent.messages)
            super().append_turn(turn)


class Respelled(Driver):
    """Writes the arguments anew before it sends them back: `mode-echoed-call-is-the-models-own`."""

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            calls = [replace(call, arguments=call.arguments.replace(": ", ":")) for call in turn.calls]
            return super().echo(replace(turn, calls=tuple(calls)))

    wires = speaking(chat=Wire())


class Joined(Driver):
    """Joins the results of a turn into one message: `mode-one-result-for-each-call`, `mode-tool-message-format`."""

    class Wire(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            first, *_ = results
            return super().results([replace(first, text="\n".join(result.text for result in results))])

    wires = speaking(chat=Wire())


class InParts(Driver):
    """Sends the result as a list of parts: `mode-tool-message-format`."""

    class Wire(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            messages = super().results(results)
            return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]

    wires = speaking(chat=Wire())


class SilentStream(Driver):
    """Drops the text of a streamed turn that calls tools: `mode-plain-and-stream-ask-the-same`."""

    class Stream(ChatStream):
        def turn(self) -> Turn:
            turn = super().turn()
            return replace(turn, text="") if turn.calls else turn

    wires = streaming(chat=Stream)


class FewPieces(Driver):
    """Stops to read a call after its sixth piece: `mode-streamed-calls-are-accumulated`."""

    class Stream(ChatStream):
        def add_call(self, delta: Json) -> None:
            if not self._calls or len(self._calls[-1].arguments) < 6 or delta.get("id"):
                super().add_call(delta)

    wires = streaming(chat=Stream)


def _closed(tool: Tool) -> Tool:
    """A strict tool as an open one whose schema was closed by hand."""
    return replace(tool, strict=False, parameters={**tool.parameters, "additionalProperties": False, "required": []})
