"""The reference with other manners, each as good as its own."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Any, ClassVar

from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.runner import Runner
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.prompty.invoke import Invocation, Invoker
from looptck_reference.vocabulary.actions import Action, Ask, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.dialects import CORE, Dialect, FeedBack, Propagate
from looptck_reference.vocabulary.errors import MalformedReply, ProviderError, StreamBroken
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Delta, Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatStream, ChatWire, MessagesStream, MessagesWire, Wire
from meta.loops.stateful import Leaning, Stateful


class Loud(Driver):
    """Ends the run with whatever goes wrong, and writes results as Python does."""

    dialects: ClassVar[Mapping[str, Dialect]] = {
        "core": replace(
            CORE, unknown_tool=Propagate(), bad_arguments=Propagate(), tool_raises=Propagate(), result_text=str
        )
    }


class Silent(Driver):
    """Answers a call that failed with an empty text, and breaks up in results what looks like a token of a model."""

    dialects: ClassVar[Mapping[str, Dialect]] = {
        "core": replace(
            CORE,
            unknown_tool=FeedBack(""),
            bad_arguments=FeedBack(""),
            tool_raises=FeedBack(""),
            result_text=lambda value: json_text(value).replace("<|", "< |"),
        )
    }


class Thrifty(Driver):
    """Runs no calls whose results it could not tell the model, and returns what text there is."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if self.limit_reached() else super().decide(turn)


class KeepsTheLastRound(Driver):
    """Sends the last round again, even if it is to send none."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
            super().__init__(agent, keep_rounds=keep_rounds or 1, **options)


class Trusting(Driver):
    """Takes what came of a stream for all of it, tells the caller nothing of it, and asks for no usage."""

    class loop(Loop):  # noqa: N801
        def forwards(self, delta: Delta) -> bool:
            return False

    class Stream(ChatStream):
        def refuse_error(self, event: Json) -> None:
            if "error" in event:
                self._finish_reason = "stop"

        def whole(self) -> bool:
            return True

        def add_call(self, delta: Json) -> None:
            self.call_for(delta.get("index"), delta.get("id") or "")
            super().add_call(delta)

    class Chat(ChatWire):
        def stream(self) -> ChatStream:
            return Trusting.Stream()

        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            return {name: value for name, value in body.items() if name != "stream_options"}

    wires: ClassVar[Mapping[str, Wire]] = {"openai-chat": Chat()}


class Patient(Exchange):
    """Asks once more where the service has failed."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError:
            return (yield from super().ask(ask))


class Patiently(Invoker):
    """Runs so."""

    exchange = Patient


class Curt(Driver):
    """On Messages: tries again, takes a pause for the end, knows its stop reasons, and adds a word to results."""

    invoker = Patiently

    class Messages(MessagesWire):
        def stop_for(self, reason: str) -> Stop:
            if reason == "looptck_unknown":
                raise MalformedReply(f"the stop reason {reason} is not known")
            return Stop.END if reason == "pause_turn" else super().stop_for(reason)

        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            (message,) = super().results(results)
            return [{**message, "content": [*message["content"], {"type": "text", "text": "Go on."}]}]

    wires: ClassVar[Mapping[str, Wire]] = {"anthropic-messages": Messages()}


class Persistent(Exchange):
    """Asks once more where a stream broke."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except StreamBroken:
            return (yield from super().ask(ask))


class Splicing(Driver):
    """On Messages: hands on what comes, of broken streams too, and takes all messages of a stream for one."""

    class invoker(Invoker):  # noqa: N801
        exchange = Persistent

    class Stream(MessagesStream):
        def begin_message(self, message: Json) -> str:
            return super().begin_message({**message, "id": ""})

    class Messages(MessagesWire):
        def stream(self) -> MessagesStream:
            return Splicing.Stream(self.turn)

    wires: ClassVar[Mapping[str, Wire]] = {"anthropic-messages": Messages()}


class Reliant(Driver):
    """Leans on the service's memory, and on nothing else."""

    class Bare(Invoker):
        def runner(self, begun: Invocation) -> Runner:
            where = begun.service
            return Runner(where.base_url, where.api_key, wire=begun.loop.wire, client=self.client)

    loop = Leaning
    invoker = Bare
    wires: ClassVar[Mapping[str, Wire]] = Stateful.wires

    def start(self) -> Json:
        return Stateful().start()


class Hangs(Driver):
    """Never comes back from its first tool."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            Event().wait()


class Stuck(Driver):
    """Never asks the model."""

    def run(self, case: Json, emit: Any) -> Json:
        Event().wait()
        raise AssertionError("never woken")


class StuckLater(Driver):
    """Answers the first question of a conversation, and never asks the model again."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = set[str]()

    def run(self, case: Json, emit: Any) -> Json:
        if case.get("conversation") in self._begun:
            Event().wait()
        self._begun.add(case.get("conversation", ""))
        return super().run(case, emit)


class Rubbish:
    """Returns what is no outcome."""

    def start(self) -> Json:
        return Driver().start()

    def run(self, case: Json, emit: Any) -> Any:
        return 42


class Forgetful(Driver):
    """Takes a failed run out of its conversation, and does with calls what nobody has said; answers them backwards."""

    class loop(Loop):  # noqa: N801
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._before = options.get("conversation")

        def settled(self) -> list[Json]:
            if isinstance(self.end, Finish):
                return super().settled()
            return [] if self._before is None else list(self._before.history)

        def repair(self, messages: Sequence[Json]) -> list[Json]:
            return list(messages)

        def changed(self, call: ToolCall, parameters: Json) -> ToolCall:
            return call

        def rejected(self, call: ToolCall, feedback: str) -> ToolResult:
            return ToolResult(self.answer_id(call), call.name, "No.", failed=True)

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1])


class Accounting(Driver):
    """Tells what its whole conversation has used."""

    def __init__(self) -> None:
        super().__init__()
        self._used: dict[str, Json] = {}

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        before = self._used.get(case.get("conversation", ""), {})
        used = {name: count + before.get(name, 0) for name, count in outcome.get("usage", {}).items()}
        self._used[case.get("conversation", "")] = used
        return {**outcome, "usage": used} if outcome["kind"] == "value" else outcome


class KeepsHalves(Driver):
    """Keeps what had arrived of an answer when its run was cancelled."""

    def run(self, case: Json, emit: OnText) -> Json:
        texts: list[str] = []

        def heard(text: str) -> None:
            if isinstance(text, str):
                texts.append(text)
                emit(text)

        outcome = super().run(case, heard)
        if outcome.get("reason") == "cancelled":
            said = self._conversations[case["conversation"]]
            half = {"role": "assistant", "content": "".join(texts)}
            self._conversations[case["conversation"]] = replace(said, history=(*said.history, half))
        return outcome


class Blames(Driver):
    """Tells its caller that the stream broke if the run was cancelled, and that something failed if the service did."""

    def run(self, case: Json, emit: OnText) -> Json:
        outcome = super().run(case, emit)
        match outcome.get("reason"):
            case "cancelled":
                return {**outcome, "reason": "stream", "message": "the stream broke"}
            case "provider":
                return {**outcome, "message": "something failed"}
        return outcome


class _OwnWords(Loop):
    def announce(self, calls: Sequence[ToolCall]) -> None:
        super().announce([replace(call, id=f"own-{call.id}") for call in calls if call.name in self.tools])

    def announce_result(self, result: ToolResult) -> None:
        if result.name in self.tools:
            super().announce_result(replace(result, call_id=f"own-{result.call_id}"))

    def model_answered(self, turn: Turn) -> Action:
        if turn.stop.truncated:
            self.announce(turn.calls)
        return super().model_answered(turn)


class TellsOtherwise(Driver):
    """Tells calls under ids of its own, those that were cut too, and none of a tool that does not exist."""

    loop = _OwnWords
