"""Loops that are correct but unusual: they must not fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.core.policies import answering
from looptck_mutants.parts import asking, speaking, streaming
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Ask, Fail
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import ProviderError, StreamBroken
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json, Stop, ToolResult, Turn
from looptck_reference.wires import ChatStream, ChatWire, MessagesStream, MessagesWire, ResponsesWire


def _without_parts(entry: Json) -> Json:
    """An entry of a request, with empty results as empty lists of parts."""
    blocks = entry.get("content")
    if isinstance(blocks, list):
        return {**entry, "content": [_without_parts(block) for block in blocks]}
    nothing = [name for name in ("content", "output") if entry.get(name) in {"", "[]"}]
    return {**entry, **{name: [] for name in nothing}}


class StreamsAnyway(Driver):
    """Requests a stream in plain cells too, without declaring it."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case as if it asked for a stream."""
        return super().run({**case, "stream": True}, emit)


class PlainAnyway(Driver):
    """Requests plain replies in cells of streams too, as loops do that stream their last answer alone."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case as if it asked for plain replies."""
        return super().run({**case, "stream": False}, emit)


class AlwaysStreams(StreamsAnyway):
    """Declares that it never requests plain replies."""

    def start(self) -> Json:
        """Without them."""
        started = super().start()
        return {**started, "modes": ["sync"], "capabilities": {**started["capabilities"], "plain": False}}


class AsksForNoUsage(Driver):
    """Fails on a chunk without choices: the service sends one only to those that ask for usage, and it does not."""

    class Stream(ChatStream):
        def take(self, event: Json) -> str:
            if not event["choices"]:
                raise StreamBroken("the list of choices is empty")
            return super().take(event)

    class Wire(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            body.pop("stream_options", None)
            return body

        def stream(self) -> ChatStream:
            return AsksForNoUsage.Stream()

    wires = speaking(chat=Wire())


class OutputsBehindTheirCalls(Driver):
    """On Responses each output stands right behind its call, also where a turn has several calls."""

    class Wire(ResponsesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            outputs = {item["call_id"]: item for item in history if item.get("type") == "function_call_output"}
            others = [item for item in history if item.get("type") != "function_call_output"]
            placed = [[item, *filter(None, [outputs.get(item.get("call_id"))])] for item in others]
            return super().request(agent, [item for items in placed for item in items], stream=stream)

    wires = speaking(responses=Wire())


class Patient(Driver):
    """Retries six times while the service fails, and then reports the error."""

    class Runs(Exchange):
        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            for _ in range(6):
                try:
                    return (yield from super().ask(ask))
                except ProviderError as error:
                    if error.status != 500:
                        raise
            return (yield from super().ask(ask))

    invoker = asking(Runs)


class OneRequestAtATime(Driver):
    """Its runs share a connection, as with a pool of one or a rate limiter: a request waits for the reply before it."""

    connection: ClassVar[threading.Lock] = threading.Lock()

    class Runs(Exchange):
        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            with OneRequestAtATime.connection:
                return (yield from super().ask(ask))

    invoker = asking(Runs)


class CountsRounds(Driver):
    """Its limit counts rounds, so it asks once more; its error does not name a limit."""

    words: ClassVar[str] = "gave up before there was an answer"

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit

        def ask(self) -> Action:
            action = super().ask()
            return Fail(RuntimeError(CountsRounds.words), "other") if isinstance(action, Fail) else action

    def start(self) -> Json:
        """The description, with the unit of the limit."""
        return {**super().start(), "dialect": {"limit_counts": "tool-rounds", "profiles": "apart"}}


class FiveByDefault(Driver):
    """Has a limit of five requests where its caller sets none, and says so when it is reached."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return super().limit_reached() or (self.limit == self.dialect.limit and self.model_calls >= 5)


class FiveInWords(FiveByDefault):
    """The same, whose driver tells of its limit by the words of an error alone."""

    class loop(FiveByDefault.loop):  # noqa: N801
        def ask(self) -> Action:
            action = super().ask()
            return Fail(RuntimeError("no answer after five turns"), "other") if isinstance(action, Fail) else action


class AnswersAtItsLimit(Driver):
    """Offers no tools in the last request that its limit allows, so that the model has to answer."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def ask(self) -> Action:
            if self.model_calls + 1 == self.limit:
                self.agent = replace(self.agent, tools=[])
            return super().ask()


class ZeroIsEndless(Driver):
    """Treats a limit of 0 as no limit."""

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.limit > 0 and super().limit_reached()


class ZeroIsDeclared(ZeroIsEndless):
    """Treats a limit of 0 as no limit, and says so."""

    def start(self) -> Json:
        return {**super().start(), "dialect": {"limit_of_zero": "no-limit"}}


class AsksForTheRest(Driver):
    """Asks for the rest of an answer that was cut, and returns both parts."""

    class loop(Loop):  # noqa: N801
        beginning = ""

        def model_answered(self, turn: Turn) -> Action:
            if turn.calls:
                self.beginning = ""
            whole = replace(turn, text=self.beginning + turn.text)
            if turn.calls or not turn.text or turn.stop is not Stop.LENGTH:
                return super().model_answered(whole)
            self.beginning = whole.text
            self.append_answer(turn)
            return self._enter(self.ask())


class AsksForText(Driver):
    """Asks the model again after an empty turn, as Anthropic's page on empty responses recommends."""

    class loop(Loop):  # noqa: N801
        """Asks at most twice, and does not append the empty turn to the history."""

        asked = 0

        def model_answered(self, turn: Turn) -> Action:
            if turn.text or turn.calls or turn.stop not in {Stop.END, Stop.CALLS} or self.asked == 2:
                return super().model_answered(turn)
            self.asked += 1
            self.history.append({"role": "user", "content": "Please answer in words."})
            return self._enter(self.ask())


class NullStaysNull(Driver):
    """Sends calls without arguments back with null, as the server wrote them."""

    class _Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            echoed = super().echo(turn)
            for call in (call for message in echoed for call in message.get("tool_calls", ())):
                call["function"]["arguments"] = call["function"]["arguments"].strip("{}") or None
            return echoed

    wires = speaking(chat=_Wire())


class Together(Driver):
    """Runs the calls of a turn at the same time, and answers in the order of the calls."""

    dialects = answering(parallel=True)


class RunsWhatIsWhole(Driver):
    """Runs the complete calls of a turn that the token limit truncated, and answers the truncated one with an error."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)


class EmptyIsNoPart(Driver):
    """Sends an empty list of parts as the result of a tool that returned nothing."""

    class Chat(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [_without_parts(one) for one in super().results(results)]

    class Responses(ResponsesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [_without_parts(one) for one in super().results(results)]

    class Messages(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [_without_parts(one) for one in super().results(results)]

    wires = speaking(chat=Chat(), responses=Responses(), messages=Messages())


class AsTheyStop(Driver):
    """Orders the blocks of a stream by their stop events."""

    class Stream(MessagesStream):
        stops = 0

        def take(self, event: Json) -> str:
            if event.get("type") == "content_block_stop":
                self.block_at(event.get("index")).index = self.stops
                self.stops += 1
            return super().take(event)

    wires = streaming(messages=Stream)


class Compacts(Driver):
    """Asks the service to compact the conversation, and to pause afterwards."""

    class Messages(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            edit = {"type": "compact_20260112", "pause_after_compaction": True}
            return {**super().request(agent, history, stream=stream), "context_management": {"edits": [edit]}}

    wires = speaking(messages=Messages())


class OtherWords(Driver):
    """Returns the partial text with a reason instead of failing, and has one reason for refused and filtered."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case, and report the reasons of some SDKs."""
        outcome = super().run(case, emit)
        if outcome["kind"] == "error" and outcome["reason"] == "stream":
            return {"kind": "value", "text": None, "stop": "other"}
        return {**outcome, "text": "", "stop": "content_filter"} if outcome.get("stop") == "refusal" else outcome


OWN = Tool("first_secret", "Ends the conversation with a final answer.", {"type": "object", "properties": {}})


class DescribesParameters(Driver):
    """Describes each tool with its parameters, and with a sentence ahead of all."""

    def agent_of(self, case: Json) -> Agent:
        """The agent of the case, whose tools have longer descriptions."""
        agent = super().agent_of(case)
        return replace(agent, tools=[replace(tool, description=_longer(tool)) for tool in agent.tools])


def _longer(tool: Tool) -> str:
    told = [f"  {name}: the {name} that is meant" for name in tool.parameters.get("properties", {})]
    return "\n".join((f"This is the tool {tool.name}. {tool.description}", "Parameters:", *told))


class AsksForReasons(Driver):
    """Asks the model for a reason with each call, as a parameter of its own that each tool is offered with."""

    def agent_of(self, case: Json) -> Agent:
        """The agent of the case, whose tools have one parameter more."""
        agent = super().agent_of(case)
        return replace(agent, tools=[replace(tool, parameters=_reasoned(tool.parameters)) for tool in agent.tools])


def _reasoned(parameters: Mapping[str, Any]) -> Json:
    reason = {"type": "string", "description": "Why you call it."}
    return {**parameters, "properties": {"_reason": reason, **parameters.get("properties", {})}}


class AddsItsOwn(Driver):
    """Adds a sentence before the prompt and a tool after the others, with words that a check might search for."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, **options: Any) -> None:
            own = {
                "role": "system",
                "content": "A second opinion is never as good as a first-hand question-of-the-first.",
            }
            tools: Sequence[Tool] = [*agent.tools, OWN]
            super().__init__(replace(agent, messages=[own, *agent.messages], tools=tools), **options)


class _ListsAsTheyCame(MessagesWire):
    def echo(self, turn: Turn) -> list[Json]:
        written = {call.id: json.loads(call.arguments or "{}") for call in turn.calls}
        return [
            {**message, "content": [_with_input(block, written) for block in message["content"]]}
            for message in super().echo(turn)
        ]


def _with_input(block: Json, written: Json) -> Json:
    return {**block, "input": written[block["id"]]} if block["type"] == "tool_use" else block


class EchoesLists(Driver):
    """Sends input that is a list back unchanged, which the service would refuse, although it never sends one."""

    wires = speaking(messages=_ListsAsTheyCame())
