"""Broken loops for the rules of ``prompty-spec`` and ``anthropic-loop`` that no other loop here breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_reference.actions import Action
from looptck_reference.agent import Agent
from looptck_reference.dialects import PROMPTY_SPEC, Dialect
from looptck_reference.driver import Driver
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.prompts import Loader, Prompt
from looptck_reference.runner import OnText
from looptck_reference.values import Json, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire
from meta.loops.speaking import speaking


def otherwise(**answers: Any) -> Mapping[str, Dialect]:
    """The reference's dialects, with other answers to some questions of the specification's."""
    return {**Driver.dialects, "prompty-spec": replace(PROMPTY_SPEC, **answers)}


class AllAtOnce(Driver):
    """Runs the calls of a turn at the same time: `spec-tools-run-one-after-the-other`."""

    dialects = otherwise(parallel=True)


class Shouted(Driver):
    """Sends what a tool returned in capitals: `spec-result-is-the-values-text`."""

    dialects = otherwise(result_text=lambda value: f"Result: {value}")


class TextArguments(Driver):
    """Hands all arguments over as text: `spec-handler-gets-the-parsed-arguments`."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def parse_arguments(self, text: str) -> Json:
            return {name: str(value) for name, value in super().parse_arguments(text).items()}


class ResultsFirst(Driver):
    """Appends results before the turn that asked for them: `spec-calls-come-before-their-results`."""

    class loop(Loop):  # noqa: N801
        turn: Turn | None = None

        def append_turn(self, turn: Turn) -> None:
            self.turn = turn

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            assert self.turn is not None
            super().append_turn(self.turn)


class NamedTurn(ChatWire):
    """Says more of a turn than the service knows."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{**message, "finish_reason": "tool_calls"} for message in super().echo(turn)]


class OddMessages(Driver):
    """Sends a key that the service does not know: `spec-assistant-message-format`."""

    wires = speaking(chat=NamedTurn())


class Undaunted(Driver):
    """Takes what it has for the answer when a model call fails: `spec-failed-model-call-ends-the-loop`."""

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        return {"kind": "value", "text": ""} if outcome.get("reason") == "provider" else outcome


class Forgetting(Driver):
    """Asks with the last round alone: `spec-each-iteration-sends-all-messages`."""

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            prompt, *ends = self.round_ends
            last = [prompt, *ends][-2:][0]
            return [*self.history[:prompt], *self.history[last:]]


class TrailsOff(Driver):
    """Returns all of the answer but its end: `spec-answer-is-returned`."""

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text[:-1]))


class Unoffered(Driver):
    """Offers the first of its tools: `spec-runtime-tools-are-offered`."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, **options: Any) -> None:
            super().__init__(agent, **options)
            self.agent = replace(agent, tools=list(agent.tools)[:1])


class TalkingChildren(Driver):
    """Gives what a child says to the caller of its parent: `spec-childs-text-is-not-forwarded`."""

    emit: ClassVar[OnText]

    class invoker(Invoker):  # noqa: N801
        def begin_child(self, *arguments: Any, **named: Any) -> Invocation:
            begun = super().begin_child(*arguments, **named)
            forwards = begun.loop.forwards

            def aloud(delta: Any) -> bool:
                TalkingChildren.emit(delta.text)
                return forwards(delta)

            begun.loop.forwards = aloud  # type: ignore[method-assign]
            return begun

    def run(self, case: Json, emit: OnText) -> Json:
        TalkingChildren.emit = emit
        return super().run(case, emit)


class Injectable(Driver):
    """Cuts a prompt at what looks like a marker once it is filled in: `spec-inputs-are-no-role-markers`."""

    class invoker(Invoker):  # noqa: N801
        def begin(self, *arguments: Any, **named: Any) -> Invocation:
            begun = super().begin(*arguments, **named)
            begun.loop.history[:] = [cut for message in begun.loop.history for cut in _cut(message)]
            return begun


class NoDefaults(Driver):
    """Leaves inputs empty that are not given: `spec-input-defaults-are-filled-in`."""

    class invoker(Invoker):  # noqa: N801
        class loader(Loader):  # noqa: N801
            def load(self, *arguments: Any, **named: Any) -> Prompt:
                prompt = super().load(*arguments, **named)
                return replace(prompt, inputs=tuple(replace(one, default="") for one in prompt.inputs))


class NoServers(MessagesWire):
    """Leaves out the MCP servers."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        body.pop("mcp_servers", None)
        return body


class NoToolsets(MessagesWire):
    """Leaves out the toolsets of MCP servers."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {**body, "tools": [tool for tool in body.get("tools", ()) if tool.get("type") != "mcp_toolset"]}


class OldBeta(MessagesWire):
    """Asks for the connector as it was before it had toolsets."""

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        return dict.fromkeys(super().headers_for(agent), "mcp-client-2025-04-04")


class ServersUnnamed(Driver):
    """Names no MCP servers: `claude-mcp-servers-are-named`."""

    wires = speaking(messages=NoServers())


class ToolsetsMissing(Driver):
    """Offers no toolset of an MCP server: `claude-mcp-toolsets-are-offered`."""

    wires = speaking(messages=NoToolsets())


class BetaOutdated(Driver):
    """Asks for a beta that knows no toolsets: `claude-mcp-beta-is-asked-for`."""

    wires = speaking(messages=OldBeta())


def _cut(message: Json) -> list[Json]:
    """A message cut at lines that look like markers."""
    cut = [{**message, "content": ""}]
    for line in message["content"].splitlines():
        role = line.strip(" #").removesuffix(":").lower()
        if line.rstrip().endswith(":") and role in {"system", "user", "assistant"}:
            cut.append({"role": role, "content": ""})
        else:
            cut[-1]["content"] += f"{line}\n"
    return cut
