"""Faults in what the next turn of a conversation begins with."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, blocks_back

if TYPE_CHECKING:
    from collections.abc import Callable


class AnswerForgotten(chat_sync.Driver):
    """The answer is returned before it is added to the messages."""

    class run_of(chat_sync.Run):
        def answered(self, turn: Json) -> Json:
            return {"kind": "value", "text": turn["content"] or ""}


class SystemPromptAgain(chat_sync.Driver):
    """Each question brings the system prompt of the agent with it."""

    class run_of(chat_sync.Run):
        def __init__(self, agent: Any, case: Json, halt: Any, before: list[Json]) -> None:
            super().__init__(agent, case, halt, before)
            self.messages[len(before) : len(before)] = [one for one in before if one["role"] == "system"][:1]


class LastThreeMessages(chat_sync.Driver):
    """Of earlier turns the last three messages are sent, wherever that cuts."""

    class run_of(chat_sync.Run):
        def __init__(self, agent: Any, case: Json, halt: Any, before: list[Json]) -> None:
            super().__init__(agent, case, halt, before[:1] + before[1:][-3:])


class TextsOnly(chat_sync.Driver):
    """A finished run is remembered as its question and its answer, without calls and results."""

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        memory = self.memory(case)
        outcome = super().run(case, emit)
        memory.messages = [one for one in memory.messages if one["role"] != "tool" and not one.get("tool_calls")]
        return outcome


class NamedByAgent(chat_sync.Driver):
    """Conversations are kept by the name of the agent, not by their own."""

    def memory(self, case: Json) -> Any:
        return super().memory({**case, "conversation": case["agent"]["name"]} if "conversation" in case else case)


class ErrorIsRemembered(chat_sync.Driver):
    """An error of the service is added to the conversation as if the model had said it."""

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        outcome = super().run(case, emit)
        if outcome.get("reason") == "provider":
            said = {"role": "assistant", "content": f"Sorry, an error occurred: {outcome['message']}"}
            memory = self.memory(case)
            memory.messages = [*memory.messages, *map(chat_sync.to_chat, case["messages"]), said]
        return outcome


class CallsAtTheLimit(messages_async.Driver):
    """The turn that reaches the limit stays in the thread, and its calls get no results."""

    class run_of(messages_async.Run):
        async def turn(self, calls: list[Json], said: dict[str, Json]) -> Json | None:
            if self.asked >= self.case["options"].get("limit", LIMIT):
                raise Stopped("limit", "the limit of model calls is reached")
            return await super().turn(calls, said)


class CutTurnKept(messages_async.Driver):
    """A turn that the token limit has cut stays in the thread with its calls, which nobody answers."""

    class run_of(messages_async.Run):
        async def ask(self) -> Json:
            message = await super().ask()
            if message.get("stop_reason") in messages_async.CUT:
                self.thread.say("assistant", blocks_back(message["content"]))
            return message


class CancelledCallsOpen(messages_async.Driver):
    """A cancelled run leaves its last calls in the thread without results."""

    class run_of(messages_async.Run):
        def close(self, calls: list[Json], results: list[Json | None]) -> None:
            if None not in results:
                super().close(calls, results)


class SavedAtOnce(responses_items.Driver):
    """The question is saved when it comes, and again with all that followed."""

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        outcome = await super().run_async(case, emit)
        if "conversation" in case:
            items = self.items[case["conversation"]]
            at = max((n for n, item in enumerate(items) if item.get("role") == "user"), default=0)
            items[at:at] = items[at : at + 1]
        return outcome


class AnswerTwice(responses_items.Driver):
    """The loop keeps the items of the answer, and the session adds its text once more."""

    def keep(self, run: Any, items: list[Json]) -> None:
        super().keep(run, items)
        if run.outcome.get("kind") == "value":
            items.append({"role": "assistant", "content": run.outcome["text"]})


class ReasoningForgotten(responses_items.Driver):
    """Between runs the reasoning goes, and the calls that it led to stay."""

    def keep(self, run: Any, items: list[Json]) -> None:
        super().keep(run, items)
        items[:] = [item for item in items if item.get("type") != "reasoning"]


class FailuresForgotten(responses_items.Driver):
    """Results that are errors do not outlive the run."""

    def keep(self, run: Any, items: list[Json]) -> None:
        super().keep(run, items)
        items[:] = [item for item in items if not str(item.get("output", "")).startswith("Error")]


class InstructionsOfTheFirstRun(responses_stateful.Driver):
    """Instructions are sent in the first run of a conversation, and the service does not carry them on."""

    class loop(responses_stateful.Loop):
        def question(self) -> list[Json]:
            self.link.instructions = ""
            return super().question()


class CancelledCallsUnpaid(responses_stateful.Driver):
    """The next question refers to the response whose calls were cancelled, and brings no outputs for them."""

    class loop(responses_stateful.Loop):
        def owe(self, calls: list[Json], outputs: list[str]) -> None:
            super().owe(calls, outputs)
            self.link.owed = [one for one in self.link.owed if not one["output"].startswith("Not run to its end")]


class CutResponseIsLast(responses_stateful.Driver):
    """The next question refers to the response that was cut, though its calls have no outputs."""

    class loop(responses_stateful.Loop):
        async def streamed(self, fresh: list[Json]) -> Json:
            reply = await super().streamed(fresh)
            self.moved(reply)
            return reply

        async def plain(self, fresh: list[Json]) -> Json:
            reply = await super().plain(fresh)
            self.moved(reply)
            return reply
