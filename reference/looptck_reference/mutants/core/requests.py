"""Requests that say something else than the history does: `Wire.opening`, `Wire.request`."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, Turn
from looptck_reference.wires import ChatWire


class SystemSpeaksAsUser(Mutant):
    """Gives the system's words to the user: `prompt-reaches-the-model`."""

    breaks = ("prompt-reaches-the-model",)

    class Wire(ChatWire):
        def opening(self, messages: Sequence[Json]) -> list[Json]:
            return [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]

    wires = speaking(chat=Wire())


class SystemSpeaksOnce(Mutant):
    """Sends the system's words with the first request only: `history-only-grows`."""

    breaks = ("history-only-grows",)

    class Wire(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            again = any(message["role"] == "assistant" for message in history)
            kept = [message for message in history if not (again and message["role"] == "system")]
            return super().request(agent, kept, stream=stream)

    wires = speaking(chat=Wire())


class StrangeParts(Mutant):
    """Sends later text beside calls in parts of another service's kind: `requests-are-well-formed`."""

    breaks = ("requests-are-well-formed",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if isinstance(self.wire, ChatWire) and turn.text and len(self.round_ends) > 1:
                self.history[-1]["content"] = [{"type": "output_text", "text": turn.text}]


class ToolsOnce(Mutant):
    """Offers its tools with the first request only: `tools-are-offered-every-time`."""

    breaks = ("tools-are-offered-every-time",)

    class Wire(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            if any(message["role"] == "tool" for message in history):
                del body["tools"]
            return body

    wires = speaking(chat=Wire())


class PlainInTheEnd(Mutant):
    """Asks for no stream once two tools have run: `requests-ask-for-the-right-mode`."""

    breaks = ("requests-ask-for-the-right-mode",)
    cells = CHAT_STREAM

    class Wire(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            results = [message for message in history if message["role"] == "tool"]
            return super().request(agent, history, stream=stream and len(results) < 2)

    wires = speaking(chat=Wire())


class AnotherModel(Mutant):
    """Asks a smaller model to read results: `model-name-is-sent`."""

    breaks = ("model-name-is-sent",)

    class Wire(ChatWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            reads = history[-1]["role"] == "tool"
            return {**body, "model": f"{agent.model}-mini"} if reads else body

    wires = speaking(chat=Wire())
