"""Mutants of the 010 loop: storing and reading of results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call, Method
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import Path
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.scheduler import CallScheduler

FOLD = "loop010-methods-fold-in-order"


@breaks("loop010-last-to-complete-wins", collateral={FOLD: "a merge or push to an existing value is a second write"})
class FirstWriteWins(Context):
    """Stores a result at a path only once."""

    def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
        written = any(
            path.kind == message.get("kind") and str(path) == message["_call"].get("_outputPath")
            for message in self.messages
            if "_call" in message and message.get("_instance") == call.instance
        )
        return {"type": "text", "text": "There is a value."} if written else super().result(call, path, value, date)


class _Ranked(CallScheduler):
    """Orders the results of a turn by the rank of their calls, not by completion."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ranks: list[Call] = []

    def write(self, call: Call, value: Any) -> None:
        messages = self.context.messages
        end = len(messages)
        super().write(call, value)
        new = messages[end:]
        del messages[end:]
        lower = next((at for at, one in enumerate(self.ranks) if one is call), 0)
        higher = [one.raw for one in self.ranks[lower + 1 :]]
        at = next(
            (at for at, message in enumerate(messages) if any(message.get("_call") is raw for raw in higher)), end
        )
        messages[at:at] = new


@breaks("loop010-older-nested-values-stay")
class NeighboursAreLost(Context):
    """Replaces the whole object around a field when it writes the field."""

    def writes(self, message: Message) -> Iterator[tuple[tuple[str, ...], Method, Any]]:
        for keys, method, value in super().writes(message):
            yield (keys[:-1], method, {keys[-1]: value}) if len(keys) > 1 else (keys, method, value)


@breaks(FOLD)
class MethodsForgotten(Context):
    """Stores every result with the method `set`."""

    def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
        return super().result(replace(call, method="set"), path, value, date)


@breaks("loop010-own-keys-are-hidden")
class OwnKeysShown(Prompt):
    """Shows the model the hidden keys of results."""

    def words(self, message: Message) -> str:
        if "_call" in message:
            return json.dumps(message, ensure_ascii=False)
        return super().words(message)


@breaks("loop010-own-keys-are-hidden")
class DatesShown(Prompt):
    """Shows the model the dates of results."""

    def words(self, message: Message) -> str:
        dated = f"\nIts _date is {message['_date']}." if "_date" in message else ""
        return super().words(message) + dated


@breaks("loop010-no-path-stores-nothing")
class StoredWithoutPath(Context):
    """Stores results without an output path under the names of their tools."""

    def destinations(self, call: Call) -> tuple[Path, ...]:
        found = super().destinations(call)
        return found if found or call.has_output else (Path("results", (call.tool,)),)
