"""Loops with one fault that a check has once looked past; each says which, and which requirements it breaks."""

from __future__ import annotations

from typing import ClassVar

from looptck_mutants.core.memory import LossRerunsTools
from looptck_mutants.parts import streaming
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.actions import Action, Fail, Finish
from looptck_reference.loop.errors import StreamBroken
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Answer, Json
from looptck_reference.wires import MessagesStream

__all__ = ["AnswersStumble", "FailsAlways", "LeansUntold", "OneMoreInSilence"]


class AnswersStumble(Driver):
    """Reads over unknown events where a turn calls tools, and stumbles over them in an answer.

    It breaks `unknown-events-are-skipped`: the tools run, and then the caller gets an error.
    """

    class Stream(MessagesStream):
        known: ClassVar = {"ping", "error", "message_start", "message_delta", "message_stop"}

        def take(self, event: Json) -> str:
            kind = str(event.get("type"))
            if not self.calling and self.blocks and kind not in self.known and not kind.startswith("content_block"):
                raise StreamBroken(f"an event of the type {kind}")
            return super().take(event)

    wires = streaming(messages=Stream)


class OneMoreInSilence(Driver):
    """Asks once more than its limit and then returns what there is: `limit-reached-is-told`, and its ceiling."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit

        def ask(self) -> Action:
            action = super().ask()
            return Finish(Answer("Another round.")) if isinstance(action, Fail) else action


class FailsAlways(Driver):
    """Fails behind its third round, whatever its limit, and says nothing of one: `limit-reached-is-told`."""

    class loop(Loop):  # noqa: N801
        def ask(self) -> Action:
            if len(self.round_ends) > 3:
                return Fail(RuntimeError("nothing came of it"), "provider")
            return super().ask()


class LeansUntold(LossRerunsTools):
    """Leans on the service's memory, does not declare it, and runs its tools again: `lost-memory-reruns-no-tool`."""

    def start(self) -> Json:
        """Without the capability."""
        started = super().start()
        return {**started, "capabilities": {**started["capabilities"], "memory": False}}
