"""Loops with the manners of published packages: right where no document forbids it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.parts import speaking
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import MalformedReply
from looptck_reference.vocabulary.values import Json, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire
from looptck_reference.wires.openai_chat_turn import STOPS


class RunsCutCalls(Driver):
    """Does not ask why a turn has stopped: a call that is cut runs with what there is of its arguments."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.RUN if turn.calls and turn.stop is Stop.LENGTH else super().decide(turn)

    def start(self) -> Json:
        """The description, with fewer things that a conversation can come to."""
        return {**super().start(), "capabilities": {"conversations": True}}


class OneAtATime(Driver):
    """Allows one call in a turn, and knows of no other."""

    class Chat(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            return {**body, "parallel_tool_calls": False} if "tools" in body else body

        def echo(self, turn: Turn) -> list[Json]:
            return [_with_one(message, "tool_calls") for message in super().echo(turn)]

    class Messages(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            choice = {"type": "auto", "disable_parallel_tool_use": True}
            return {**body, "tool_choice": choice} if "tools" in body else body

        def echo(self, turn: Turn) -> list[Json]:
            others = {call.id for call in turn.calls[1:]}
            return [
                {**message, "content": [block for block in message["content"] if block.get("id") not in others]}
                for message in super().echo(turn)
            ]

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return super().calls_of(turn)[:1]

    wires = speaking(chat=Chat(), messages=Messages())


def _with_one(message: Json, name: str) -> Json:
    return {**message, name: message[name][:1]} if name in message else message


class SaysThatItIsTooLong(Driver):
    """Returns the service's words about a context that is too long, with the stop reason that it has for that."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case; such an error is a value."""
        outcome = super().run(case, emit)
        if outcome["kind"] != "error" or not any(words in outcome["message"] for words in ("too long", "context len")):
            return outcome
        return {"kind": "value", "text": outcome["message"], "stop": "length"}


class KeepsByCallId(Driver):
    """Keeps results by the ids of their calls, which are unique, in one place for all runs."""

    class loop(Loop):  # noqa: N801
        kept: ClassVar[dict[str, ToolResult]] = {}

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([self.kept.setdefault(one.call_id, one) for one in results])


class NamesTheReason(Driver):
    """Ends with an error that names the finish reason that it does not know."""

    class Chat(ChatWire):
        def decode(self, reply: Json) -> Turn:
            for choice in reply.get("choices") or ():
                if choice["finish_reason"] not in STOPS:
                    raise MalformedReply(f"Provider finish_reason: {choice['finish_reason']}")
            return super().decode(reply)

    wires = speaking(chat=Chat())


class JoinsInSilence(Driver):
    """Returns the text of all rounds, with an empty line between two."""

    class loop(Loop):  # noqa: N801
        def __init__(self, *of: Any, **options: Any) -> None:
            super().__init__(*of, **options)
            self.texts: list[str] = []

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.texts.append(turn.text)

        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text="\n\n".join([*self.texts, turn.text])))


class Joins(JoinsInSilence):
    """Returns the text of all rounds, and says so."""

    def start(self) -> Json:
        """The description, with its choice."""
        return {**super().start(), "dialect": {"answer_text": "all-rounds", "profiles": "apart"}}


class JoinsAndLosesTheAnswer(Joins):
    """Says that it returns the text of all rounds, and returns that of the rounds before the answer."""

    class loop(JoinsInSilence.loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text="") if self.texts else turn)
