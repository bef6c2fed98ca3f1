"""Reasoning that can be read: taken for text, in the way of text, lost, or made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES_STREAM, RESPONSES, RESPONSES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatStream, ChatWire, MessagesStream, ResponsesStream, ResponsesWire


@breaks(
    "chat-reasoning-is-no-text",
    cells=CHAT,
    collateral={"final-text-is-returned": "some servers record reasoning before the text"},
)
class ReasoningIsText(ChatWire):
    """Puts the reasoning before the text."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        kept = "".join(value for members in turn.content for value in members.values())
        return replace(turn, text=kept + turn.text)


@breaks("chat-reasoning-is-no-text", cells=CHAT_STREAM)
class ReasoningIsStreamed(ChatStream):
    """Hands the reasoning to the caller as if it were text."""

    def take(self, event: Json) -> str:
        reasoning = [(choice["delta"] or {}).get("reasoning_content") or "" for choice in event.get("choices") or ()]
        return "".join(reasoning) + super().take(event)


@breaks("thinking-is-no-text", cells=MESSAGES_STREAM)
class ThinkingIsStreamed(MessagesStream):
    """Hands the thinking to the caller as if it were text."""

    def take(self, event: Json) -> str:
        return str((event.get("delta") or {}).get("thinking") or "") + super().take(event)


@breaks("thinking-is-no-text", cells=RESPONSES_STREAM)
class SummariesAreStreamed(ResponsesStream):
    """Hands each piece with a text to the caller, those of a summary of the reasoning too."""

    def take(self, event: Json) -> str:
        piece = event.get("delta") if event.get("type") == "response.reasoning_summary_text.delta" else ""
        return str(piece or "") + super().take(event)


@breaks("thinking-is-no-text", cells=RESPONSES)
class SummariesAreText(ResponsesWire):
    """Puts the summary of the reasoning before the text."""

    def decode(self, reply: Json) -> Turn:
        turn = super().decode(reply)
        parts = [part for item in reply["output"] if item["type"] == "reasoning" for part in item.get("summary") or ()]
        return replace(turn, text="".join(part["text"] for part in parts) + turn.text)


@breaks("chat-reasoning-is-echoed", cells=CHAT)
class LatestReasoning(ChatWire):
    """Sends back the reasoning of the latest turn only."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        turns = [message for message in history if message["role"] == "assistant"]
        older = [_unreasoned(message) if message in turns[:-1] else message for message in history]
        return super().request(agent, older, stream=stream)


def _unreasoned(message: Json) -> Json:
    return {name: value for name, value in message.items() if name != "reasoning_content"}


@breaks("what-comes-beside-reasoning-is-kept", cells=CHAT_STREAM)
class ReasoningOrElse(ChatStream):
    """Reads a delta with reasoning for its reasoning, and nothing else."""

    def take(self, event: Json) -> str:
        choices = [{**choice, "delta": _reasoning_of(choice["delta"])} for choice in event.get("choices") or ()]
        return super().take({**event, "choices": choices})


def _reasoning_of(delta: Json | None) -> Json | None:
    reasoning = (delta or {}).get("reasoning_content")
    return {"reasoning_content": reasoning} if reasoning else delta


@breaks("no-reasoning-is-added", cells=CHAT)
class ReasoningInEveryTurn(ChatWire):
    """Sends each turn back with reasoning, an empty one if it had none."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"reasoning_content": "", **message} for message in super().echo(turn)]


@breaks("phases-are-echoed", cells=RESPONSES)
class MessagesWithoutPhases(ResponsesWire):
    """Keeps the messages of the model without their phases."""

    def echo(self, turn: Turn) -> list[Json]:
        return [_without_phase(item) for item in super().echo(turn)]

    def answer(self, turn: Turn) -> list[Json]:
        return [_without_phase(item) for item in super().answer(turn)]


def _without_phase(item: Json) -> Json:
    return {name: value for name, value in item.items() if name != "phase"}


@breaks("readable-reasoning-is-echoed", cells=RESPONSES)
class SummariesOnly(ResponsesWire):
    """Sends reasoning items back with their summaries, and without their text."""

    def echo(self, turn: Turn) -> list[Json]:
        kept = [
            {name: value for name, value in item.items() if item.get("type") != "reasoning" or name != "content"}
            for item in turn.content
        ]
        return super().echo(replace(turn, content=tuple(kept)))


@breaks("encrypted-reasoning-is-asked-for", cells=RESPONSES)
class ReasoningStaysSealed(ResponsesWire):
    """Has the service store nothing, and does not ask for the encrypted content of reasoning."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if name != "include"}


@breaks("reasoning-details-go-back-whole", cells=CHAT)
class SealedDetailsOnly(ChatWire):
    """Sends back the encrypted details of reasoning, and not the readable ones."""

    def echo(self, turn: Turn) -> list[Json]:
        return [
            {name: _sealed(value) if name == "reasoning_details" else value for name, value in message.items()}
            for message in super().echo(turn)
        ]


def _sealed(details: Sequence[Json]) -> list[Json]:
    return [one for one in details if one.get("type") == "reasoning.encrypted"]
