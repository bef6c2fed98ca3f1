"""Faults of theme 2: what loops do with the thoughts and the further members of a turn on Chat."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
from chat_plain import Chat, Reply

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json

THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")


class BareTurnChat(Chat):
    """Writes a turn anew from the three members that the first services had."""

    def turn(self, reply: Reply) -> Json:
        turn = super().turn(reply)
        return {name: turn[name] for name in ("role", "content", "tool_calls")}


class DriverThoughtsDropped(chat_plain.Driver):
    """The thoughts of a turn with calls do not go back with it."""

    loop = BareTurnChat


class DriverLatestThoughts(chat_plain.Driver):
    """From the third request on the thoughts of the first turn with calls are missing."""

    class loop(Chat):
        """Saves tokens: of all turns only the latest goes back with its thoughts."""

        def prompt(self) -> list[Json]:
            turns = [at for at, item in enumerate(self.history) if item["role"] == "assistant"]
            latest = turns[-1] if turns else 0
            return [
                item if at >= latest else {name: value for name, value in item.items() if name not in THOUGHTS}
                for at, item in enumerate(self.history)
            ]


class DriverThoughtsForAnswer(chat_plain.Driver):
    """An empty answer with thoughts is the thoughts."""

    class loop(Chat):
        """Returns the thoughts where the model says nothing else."""

        def answer(self, reply: Reply) -> str:
            return reply.message.get("content") or reply.message.get("reasoning_content") or ""


class DriverByModel(chat_plain.Driver):
    """Right: what a service demands is sent to that service."""

    class loop(BareTurnChat):
        """Sends thoughts and signatures only to models whose services demand them, which it knows by their names."""

        def turn(self, reply: Reply) -> Json:
            if any(name in self.case["model"] for name in ("deepseek", "gemini")):
                return Chat.turn(self, reply)
            turn = super().turn(reply)
            return {
                **turn,
                "tool_calls": [
                    {name: call[name] for name in call if name != "extra_content"} for call in turn["tool_calls"]
                ],
            }
