"""Mutants of the 010 loop: what is written, and what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from looptck_reference.agent_loop_010.calls import Call, Method
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import Found, Path
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.tick import Step, Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.mutant import because

FOLD = "loop010-methods-fold-in-order"


class FirstWriteWins(SolutionMutant):
    """Writes a result at a path once, and never again: `loop010-last-to-complete-wins`."""

    breaks = ("loop010-last-to-complete-wins",)
    also = because("what is merged into or pushed upon a value is a second write", FOLD)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        class context(Context):  # noqa: N801
            def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
                written = any(
                    path.kind == message.get("kind") and str(path) == message["_call"].get("_outputPath")
                    for message in self.messages
                    if "_call" in message and message.get("_instance") == call.instance
                )
                return (
                    {"type": "text", "text": "There is a value."}
                    if written
                    else super().result(call, path, value, date)
                )


class _Ranked(Tick):
    """Puts a result before those of calls of its turn that have a higher rank, whichever comes first."""

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


class LastListedWins(SolutionMutant):
    """Lets the result of the call that stands last win: `loop010-last-to-complete-wins`."""

    breaks = ("loop010-last-to-complete-wins",)
    also = because("what is pushed upon a later call's value stands before it", FOLD)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Ranked):  # noqa: N801
            def take(self, raw: Any, *, agreed: bool = False) -> None:
                super().take(raw, agreed=agreed)
                self.ranks += self.pending[-1:]


class LastBegunWins(SolutionMutant):
    """Lets the result of the call that began last win: `loop010-last-to-complete-wins`."""

    breaks = ("loop010-last-to-complete-wins",)
    also = because("what is pushed upon a later call's value stands before it", FOLD)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Ranked):  # noqa: N801
            def launch(self, call: Call) -> Step | None:
                self.ranks.append(call)
                return super().launch(call)


class NeighboursAreLost(SolutionMutant):
    """Writes a field, and with it all of the object that it stands in: `loop010-older-nested-values-stay`."""

    breaks = ("loop010-older-nested-values-stay",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def writes(self, message: Message) -> Iterator[tuple[tuple[str, ...], Method, Any]]:
                for keys, method, value in super().writes(message):
                    yield (keys[:-1], method, {keys[-1]: value}) if len(keys) > 1 else (keys, method, value)


class MethodsForgotten(SolutionMutant):
    """Sets every result, whatever the call says: `loop010-methods-fold-in-order`."""

    breaks = (FOLD,)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
                return super().result(replace(call, method="set"), path, value, date)


class MergesAreShallow(SolutionMutant):
    """Merges as it assigns: `loop010-methods-fold-in-order`."""

    breaks = (FOLD,)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
                shallow = replace(call, method="assign") if call.method == "merge" else call
                return super().result(shallow, path, value, date)


class PushedArraysAreConcatenated(SolutionMutant):
    """Pushes the elements of an array, and not the array: `loop010-methods-fold-in-order`."""

    breaks = (FOLD,)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def applied(self, base: Found, method: Method, value: Any) -> Any:
                return super().applied(base, "concat" if method == "push" else method, value)


class ArraysAreNeverSet(SolutionMutant):
    """Adds to an array that is there where another one is set: `loop010-methods-fold-in-order`."""

    breaks = (FOLD,)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def applied(self, base: Found, method: Method, value: Any) -> Any:
                adds = method == "set" and isinstance(base, list) and isinstance(value, list)
                return super().applied(base, "concat" if adds else method, value)


class OwnKeysShown(SolutionMutant):
    """Tells the model all that a result is kept with: `loop010-own-keys-are-hidden`."""

    breaks = ("loop010-own-keys-are-hidden",)

    class loop(AgentLoop):  # noqa: N801
        class prompt(Prompt):  # noqa: N801
            def words(self, message: Message) -> str:
                if "_call" in message:
                    return json.dumps(message, ensure_ascii=False)
                return super().words(message)


class DatesShown(SolutionMutant):
    """Tells the model when a result was written: `loop010-own-keys-are-hidden`."""

    breaks = ("loop010-own-keys-are-hidden",)

    class loop(AgentLoop):  # noqa: N801
        class prompt(Prompt):  # noqa: N801
            def words(self, message: Message) -> str:
                dated = f"\nIts _date is {message['_date']}." if "_date" in message else ""
                return super().words(message) + dated


class StoredWithoutPath(SolutionMutant):
    """Keeps results without an output path under the names of their tools: `loop010-no-path-stores-nothing`."""

    breaks = ("loop010-no-path-stores-nothing",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def destinations(self, call: Call) -> tuple[Path, ...]:
                found = super().destinations(call)
                return found if found or call.has_output else (Path("results", (call.tool,)),)
