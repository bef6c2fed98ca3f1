"""Turns of a conversation that the next question carries otherwise than their own run did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import MessagesWire


@breaks("conversation-is-carried-once", cells=CHAT)
class AnswersBeginWithEarlierTexts(Loop):
    """Keeps the answer of a run with all that the model has said beside calls in front of it."""

    def append_answer(self, turn: Turn) -> None:
        said = [one["content"] for one in self.history if one.get("tool_calls") and one["content"]]
        super().append_answer(replace(turn, text="".join([*said, turn.text])))


@breaks("prefix-is-the-same", cells=MESSAGES)
class FailuresAreMarkedOnce(MessagesWire):
    """Marks the result of a call that failed in the request that follows the call, and in no later one."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        *earlier, last = history
        return super().request(agent, [*map(_unmarked, earlier), last], stream=stream)


def _unmarked(message: Json) -> Json:
    blocks = message["content"]
    if isinstance(blocks, str):
        return message
    return {
        **message,
        "content": [{name: one for name, one in block.items() if name != "is_error"} for block in blocks],
    }


@breaks("prefix-is-the-same", cells=CHAT)
class EachCallIsAMessage(Loop):
    """Keeps each call of a turn as a message of its own, with its result behind it, for the next question."""

    def settled(self) -> list[Json]:
        said = super().settled()
        results = {one["tool_call_id"]: one for one in said if one["role"] == "tool"}
        return [piece for one in said if one["role"] != "tool" for piece in _apart(one, results)]


def _apart(message: Json, results: dict[str, Json]) -> Iterator[Json]:
    calls: Sequence[Json] = message.get("tool_calls") or ()
    if not calls:
        yield message
    for call in calls:
        yield {**message, "tool_calls": [call]}
        yield results[call["id"]]
